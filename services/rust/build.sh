#!/bin/sh
# Makes build/respond and build/request, one program by two names, of the same bytes wherever the folder
# stands; with the name of another program of this folder, that one.
set -eu
cd "$(dirname "$0")"
here=$(pwd)
target=$here/../../.orch/rust-target
cargo_home=${CARGO_HOME:-$HOME/.cargo}
host=$(rustc -vV | sed -n 's/^host: //p')
# As orch builds, so that whoever starts this makes nothing anew.
export LC_ALL=C SOURCE_DATE_EPOCH=0
flags="--remap-path-prefix=$here=/rust --remap-path-prefix=$cargo_home=/cargo"
# The C library is linked in, so that another host's may be older or another one.
case $host in
*-linux-*) flags="$flags -C target-feature=+crt-static" ;;
esac
# With a target named, the flags hold for the programs alone, and not for what runs while they are compiled.
RUSTFLAGS=$flags cargo build --release --locked --bin "${1:-ends}" --target "$host" --target-dir "$target"
mkdir -p build
take() { # beside, then in place: one that is running keeps its own
    cp "$target/$host/release/$1" "build/$2.new"
    mv -f "build/$2.new" "build/$2"
}
if [ $# -gt 0 ]; then
    take "$1" "$1"
else
    take ends respond
    take ends request
    # The versions of the packages in them, for orch's own record.
    awk -F'"' '/^name = /{name = $2} /^version = "/{versions[name] = $2} END {
        for (name in versions) print name, versions[name]
    }' Cargo.lock | sort | awk 'BEGIN {print "{"} {printf "%s \"%s\": \"%s\"", (NR > 1 ? ",\n" : ""), $1, $2} END {print "\n}"}' \
        >build/packages.json
fi
