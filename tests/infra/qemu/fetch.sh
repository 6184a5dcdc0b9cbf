#!/bin/sh
# Fetch Debian's own kernel (it has netem, which not every machine's has) and busybox for tests/infra/qemu, unpacked
# and not installed: fetch.sh FOLDER [KERNEL_PACKAGE]. Does nothing where that was done.
set -eu
folder=$1
wanted=${2:-linux-image-amd64}
[ ! -e "$folder/$wanted" ] || exit 0
apt-get update -qq
case $wanted in
linux-image-amd64) package=$(apt-cache depends --important "$wanted" | sed -n 's/.*Depends: *//p') ;;
*) package=$wanted ;;
esac
[ -n "$package" ] || { echo "error: apt knows no $wanted: this needs Debian" >&2; exit 3; }
draft=$(mktemp -d)
trap 'rm -rf "$draft"' EXIT
(cd "$draft" && apt-get download -qq -o APT::Sandbox::User=root "$package" busybox-static)
for archive in "$draft"/*.deb; do dpkg-deb -x "$archive" "$draft/files"; done
rm -rf "$folder"
mkdir -p "$folder"
mv "$draft/files/boot" "$draft/files/lib" "$draft/files/bin" "$folder"
echo "$package" >"$folder/$wanted"
