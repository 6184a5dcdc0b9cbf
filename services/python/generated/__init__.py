"""What protoc makes of `protos/orch.proto`; written by `services.python.protocols.grpc.generate`, never by hand."""
