"""What protoc makes of `protos/orch.proto`; written by `make generated`, never by hand."""
