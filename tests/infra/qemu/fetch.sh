#!/bin/sh
# Fetch Debian's own kernel (it has netem, which not every machine's has) and busybox for tests/infra/qemu, unpacked
# and not installed: fetch.sh FOLDER [KERNEL_PACKAGE]
set -eu
folder=$1
package=${2:-$(apt-cache depends --important linux-image-amd64 | sed -n 's/.*Depends: *//p')}
[ -n "$package" ] || { echo "error: apt-cache knows no linux-image-amd64 (this needs Debian; apt-get update?)" >&2; exit 3; }
[ ! -e "$folder/$package" ] || exit 0
draft=$(mktemp -d)
trap 'rm -rf "$draft"' EXIT
(cd "$draft" && apt-get download -qq -o APT::Sandbox::User=root "$package" busybox-static)
for archive in "$draft"/*.deb; do dpkg-deb -x "$archive" "$draft/files"; done
rm -rf "$folder"
mkdir -p "$folder"
mv "$draft/files/boot" "$draft/files/lib" "$draft/files/bin" "$folder"
touch "$folder/$package"
