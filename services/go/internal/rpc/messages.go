// Package rpc speaks gRPC by grpc-go, with the messages of protos/orch.proto. Both ends read every field of every message
// into plain values, and build their own messages from such.
package rpc

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/types/known/structpb"

	"orch/internal/operation"
	pb "orch/internal/orchpb"
)

func packRecords(records []operation.Record) *pb.Records {
	items := make([]*pb.Record, len(records))
	for place := range records {
		record := &records[place]
		items[place] = &pb.Record{
			Id: record.ID, Name: record.Name, Value: record.Value, Active: record.Active, Tags: record.Tags,
		}
	}
	return &pb.Records{Items: items}
}

func readRecords(records *pb.Records) []operation.Record {
	items := records.GetItems()
	found := make([]operation.Record, len(items))
	for place, item := range items {
		found[place] = operation.Record{
			ID: item.GetId(), Name: item.GetName(), Value: item.GetValue(), Active: item.GetActive(), Tags: item.GetTags(),
		}
	}
	return found
}

func packDocument(document any) (*structpb.Value, error) {
	made, err := structpb.NewValue(document)
	if err != nil {
		return nil, fmt.Errorf("the document cannot travel as a Value: %w", err)
	}
	return made, nil
}

var errNoContent = errors.New("an echo carries data, records or a document, and this one nothing")

// packEcho builds a request.
func packEcho(request *operation.Request) (*pb.EchoRequest, error) {
	switch request.Kind {
	case operation.EchoData:
		return &pb.EchoRequest{Content: &pb.EchoRequest_Data{Data: request.Data}}, nil
	case operation.EchoRecords:
		return &pb.EchoRequest{Content: &pb.EchoRequest_Records{Records: packRecords(request.Records)}}, nil
	}
	document, err := packDocument(request.Document)
	return &pb.EchoRequest{Content: &pb.EchoRequest_Document{Document: document}}, err
}

// readEcho reads a request.
func readEcho(message *pb.EchoRequest, request *operation.Request) error {
	switch content := message.GetContent().(type) {
	case *pb.EchoRequest_Data:
		request.Kind, request.Data = operation.EchoData, content.Data
	case *pb.EchoRequest_Records:
		request.Kind, request.Records = operation.EchoRecords, readRecords(content.Records)
	case *pb.EchoRequest_Document:
		request.Kind, request.Document = operation.EchoDocument, content.Document.AsInterface()
	default:
		return errNoContent
	}
	return nil
}

// packEchoReply builds a reply.
func packEchoReply(kind operation.Kind, reply *operation.Reply) (*pb.EchoReply, error) {
	switch kind {
	case operation.EchoData:
		return &pb.EchoReply{Content: &pb.EchoReply_Data{Data: reply.Data}}, nil
	case operation.EchoRecords:
		return &pb.EchoReply{Content: &pb.EchoReply_Records{Records: packRecords(reply.Records)}}, nil
	}
	document, err := packDocument(reply.Document)
	return &pb.EchoReply{Content: &pb.EchoReply_Document{Document: document}}, err
}

// readEchoReply reads a reply; one to another form is not that to the request.
func readEchoReply(kind operation.Kind, message *pb.EchoReply, reply *operation.Reply) error {
	found := operation.Identity
	switch content := message.GetContent().(type) {
	case *pb.EchoReply_Data:
		found, reply.Data = operation.EchoData, content.Data
	case *pb.EchoReply_Records:
		found, reply.Records = operation.EchoRecords, readRecords(content.Records)
	case *pb.EchoReply_Document:
		found, reply.Document = operation.EchoDocument, content.Document.AsInterface()
	}
	if found != kind {
		return errNoContent
	}
	return nil
}
