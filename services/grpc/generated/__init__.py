"""What protoc makes of `protos/orch.proto`; written by `services.grpc.generate`, never by hand."""
