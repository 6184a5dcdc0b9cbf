#!/bin/sh
# First boot: give the SSH server the host key that the controller made.
#
# The image's own SSH server is up, with a key that the instance made itself, before this script runs. Whoever connects
# in that moment sees a key that known_hosts does not have, and must refuse it and try again until ours is shown; never
# accept it. From the restart below on, only ours is offered.
set -eu
# TCP's congestion control of all that is opened here, where the kernel has it; `describe` tells what is in force.
echo cubic 2>/dev/null >/proc/sys/net/ipv4/tcp_congestion_control || :
key=/etc/ssh/orch_host_key
url=http://metadata.google.internal/computeMetadata/v1/instance/attributes/orch-host-key

umask 077
curl --fail --silent --show-error --retry 5 --header 'Metadata-Flavor: Google' "$url" >"$key.new"
# The metadata may have lost the newline that OpenSSH wants at the end.
tail -c1 "$key.new" | read -r _ || echo >>"$key.new"
if cmp -s "$key.new" "$key"; then
    rm "$key.new"
    exit 0
fi
mv "$key.new" "$key"
umask 022
echo "HostKey $key" >/etc/ssh/sshd_config.d/10-orch.conf
/usr/sbin/sshd -t
systemctl restart ssh
