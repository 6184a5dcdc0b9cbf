#!/bin/busybox sh
# shellcheck shell=dash
# First process of the emulated machine: the outer machine's files read-only below a layer in memory, cgroup version 2
# alone, and one command, which speaks on the second serial line.
set -eu
busybox mount -t proc none /proc
busybox mount -t devtmpfs none /dev
while read -r module; do busybox insmod "/modules/$module"; done </modules/order

busybox mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,cache=loose,ro files /files
busybox mount -t tmpfs none /layer
busybox mkdir /layer/upper /layer/work
busybox mount -t overlay -o lowerdir=/files,upperdir=/layer/upper,workdir=/layer/work none /root

busybox mount --move /dev /root/dev
busybox mount -t proc none /root/proc
busybox mount -t sysfs none /root/sys
busybox mount -t cgroup2 none /root/sys/fs/cgroup
# What runs on the outer machine must not look as if it ran here.
for folder in run var/lib/orch-lab; do
    busybox mkdir -p "/root/$folder"
    busybox mount -t tmpfs none "/root/$folder"
done
busybox mkdir -p /root/dev/pts /root/dev/shm
busybox mount -t devpts none /root/dev/pts
busybox mount -t tmpfs none /root/dev/shm
busybox cp /command.sh /run.sh /root/run/
exec busybox switch_root /root /bin/sh /run/run.sh
