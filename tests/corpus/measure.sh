#!/usr/bin/env bash
# Measure the runs of the corpus anew (some ten minutes; root, as one is in the lab): tests/corpus/measure.sh [NAME...]
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
orch=.venv/bin/orch
keep=tests/corpus/runs

short=(--set load.duration=100ms --set warmup.requests=20 --set warmup.at_least=0s)
few=(--set load.requests=60 --set warmup.requests=10 --set warmup.at_least=0s)

measure() { # NAME EXPERIMENT [--set ...]
    local name=$1 folder
    shift
    [ "${#wanted[@]}" = 0 ] || [[ " ${wanted[*]} " == *" $name "* ]] || return 0
    "$orch" run "$@" >"build/corpus-$name.txt" 2>&1
    folder=$(sed -n 's/^run  *//p' "build/corpus-$name.txt" | head -1)
    [ -d "$folder" ] || { echo "$name: no run, see build/corpus-$name.txt" >&2; return 1; }
    # What analysis derives from the samples is left out: it would be old.
    tar -C "$(dirname "$folder")" --exclude=summary.json --exclude=checks.json --transform "s,^$(basename "$folder"),$name," \
        --owner=0 --group=0 -cJf "$keep/$name.tar.xz" "$(basename "$folder")"
    echo "$name: $(du -sk "$keep/$name.tar.xz" | cut -f1) kB"
}

mkdir -p build "$keep"
wanted=("$@")
measure quickstart experiments/quickstart.yaml "${short[@]}"
measure keep_alive experiments/keep_alive_local.yaml "${few[@]}" --set operations.0.echo.records=10
measure rates experiments/latency_by_rate.yaml --set load.duration=300ms --set warmup.requests=20 --set warmup.at_least=0s --set repeats=3 --set 'load.rate=[250/s, 1000/s, 8000/s]'
measure search experiments/capacity.yaml --set load.find.from=2000/s --set load.duration=500ms --set warmup.requests=20 --set warmup.at_least=0s --set repeats=3
measure streams experiments/streams.yaml --set load.duration=1s --set warmup.at_least=100ms --set repeats=3 --set 'load.concurrency=[1, 5]' --set 'operations.0.events.per_second=[100/s, 500/s]'
measure database tests/corpus/database.yaml
measure mix experiments/small_beside_large.yaml --set load.requests=300 --set warmup.requests=20 --set warmup.at_least=0s --set repeats=3
measure codecs experiments/codec_only.yaml --set load.requests=100 --set warmup.requests=20 --set warmup.at_least=0s --set repeats=3
measure languages experiments/languages.yaml --set load.duration=100ms --set warmup.requests=20 --set warmup.at_least=0s --set repeats=3 --set load.concurrency=1 --set stacks='[{protocol: rest, responder: [fastapi, go-net-http], client: [pycurl, go-net-http]}, {protocol: grpc, responder: [grpcio, grpc-go], client: [grpcio, grpc-go]}]' --set reference='rest (fastapi, pycurl)'
measure until experiments/until_certain.yaml --set load.requests=300 --set warmup.requests=20 --set warmup.at_least=0s --set repeats.at_most=6
measure failing tests/corpus/failing.yaml
measure distances experiments/decision_map.yaml --set connection=reuse --set 'distance.rtt=[1ms, 10ms, 40ms]'
measure placements experiments/cross_region.yaml --set repeats=3 --set load.requests=60 --set warmup.requests=5 --set warmup.at_least=0s --set operations.1.image.load.requests=3 --set operations.1.image.warmup.requests=1
