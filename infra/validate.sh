#!/bin/sh
# Holds every module of infra/ against its provider's schema. One whose provider cannot be fetched here is named, with why.
set -eu
cd "$(dirname "$0")"
program=$(command -v terraform || command -v tofu) || { echo "lint: neither terraform nor tofu is here: infra/ is not checked"; exit 0; }
"$program" fmt -check -recursive .
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT
for file in */main.tf; do
    module=${file%/main.tf}
    export TF_DATA_DIR="$data/$module"
    if "$program" -chdir="$module" init -backend=false -input=false -no-color -lockfile=readonly >"$data/log" 2>&1; then
        "$program" -chdir="$module" validate -no-color
        echo "lint: infra/$module is valid"
    elif grep -qE 'provider (packages|registry)' "$data/log"; then
        echo "lint: infra/$module is not validated: $(grep -E 'provider (packages|registry)' "$data/log" | head -n 1)"
    else
        cat "$data/log" >&2
        exit 1
    fi
done
