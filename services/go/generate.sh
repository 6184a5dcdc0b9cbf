#!/bin/sh
# Writes internal/orchpb anew from protos/orch.proto, with the plugins of go.mod and the compiler of the project's grpcio-tools.
set -eu
cd "$(dirname "$0")"
root=$(cd ../.. && pwd)
plugins=$(mktemp -d)
trap 'rm -rf "$plugins"' EXIT
go build -o "$plugins/" google.golang.org/protobuf/cmd/protoc-gen-go google.golang.org/grpc/cmd/protoc-gen-go-grpc
"$root/.venv/bin/python" -m grpc_tools.protoc "-I$root/protos" \
  "--plugin=protoc-gen-go=$plugins/protoc-gen-go" "--plugin=protoc-gen-go-grpc=$plugins/protoc-gen-go-grpc" \
  --go_out=. --go_opt=module=orch --go_opt=Morch.proto=orch/internal/orchpb \
  --go-grpc_out=. --go-grpc_opt=module=orch --go-grpc_opt=Morch.proto=orch/internal/orchpb orch.proto
