#!/bin/sh
# cephfs.sh BIN COMMIT EDITS: the driver of CephFS, with one object store in memory, mounted with
# ceph-fuse on two hosts.
set -u
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
# shellcheck source=scripts/shared/rig.sh
. "$here/rig.sh"
begin cephfs "$@"
need ceph-mon ceph-mon
need ceph-osd ceph-osd
need ceph-mgr ceph-mgr
need ceph-mds ceph-mds
need ceph-fuse ceph-fuse
need ceph ceph-common
need monmaptool ceph-base
need fusermount3 fuse3
isolate
hosts
network
mkdir -p "$dir/a" "$dir/b" "$dir/mon" "$dir/osd" "$dir/mgr" "$dir/mds" "$dir/log" /run/ceph

# With the default tick the metadata server would answer once per second, and with the default
# timeouts a client that is cut off would keep its locks for minutes. An empty pid file lets a
# second client start.
fsid=$(cat /proc/sys/kernel/random/uuid)
cat >"$dir/ceph.conf" <<CONF
[global]
fsid = $fsid
mon host = [v2:10.99.0.1:3300,v1:10.99.0.1:6789]
mon initial members = m
public network = 10.99.0.0/24
auth cluster required = none
auth service required = none
auth client required = none
auth allow insecure global id reclaim = true
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 8
osd crush chooseleaf type = 0
mon allow pool size one = true
mon data avail crit = 1
osd objectstore = memstore
memstore device bytes = 536870912
mds tick interval = 0.05
mon data = $dir/mon
osd data = $dir/osd
mgr data = $dir/mgr
mds data = $dir/mds
log file = $dir/log/\$name.log
run dir = $dir/run
admin socket = $dir/run/\$name.\$pid.asok
[client]
pid file =
CONF
export CEPH_CONF="$dir/ceph.conf"

# daemon PROGRAM ID: start a daemon
daemon() {
    "$1" -c "$CEPH_CONF" -i "$2" --setuser root --setgroup root >>"$dir/log/$1" 2>&1 ||
        left_out "$1 does not start"
}

ceph_() { timeout 30 ceph -c "$CEPH_CONF" "$@" >>"$dir/log/ceph" 2>&1; }

monmaptool --create --fsid "$fsid" --addv m '[v2:10.99.0.1:3300,v1:10.99.0.1:6789]' \
    "$dir/monmap" >"$dir/log/monmaptool" 2>&1 || left_out 'no map of monitors'
ceph-mon -c "$CEPH_CONF" -i m --mkfs --monmap "$dir/monmap" --setuser root --setgroup root \
    >"$dir/log/mkfs" 2>&1 || left_out 'no monitor'
daemon ceph-mon m
await ceph_ -s || left_out 'the monitor does not answer'
daemon ceph-mgr g
ceph-osd -c "$CEPH_CONF" -i 0 --mkfs --osd-uuid "$(cat /proc/sys/kernel/random/uuid)" \
    --setuser root --setgroup root >>"$dir/log/mkfs" 2>&1 || left_out 'no object store'
ceph_ osd new "$(cat "$dir/osd/fsid")" 0
ceph_ osd crush add 0 1 host=h root=default
daemon ceph-osd 0
daemon ceph-mds d
ceph_ osd pool create meta 8
ceph_ osd pool create data 8
ceph_ fs new soak meta data || left_out 'no file system'
ceph_ fs set soak session_timeout 30
ceph_ fs set soak session_autoclose 30

# client HOST ENTER: mount the file system on HOST
client() {
    # shellcheck disable=SC2086 # $2 is several words
    $2 timeout 60 ceph-fuse -c "$CEPH_CONF" "$dir/$1" >"$dir/log/mount-$1" 2>&1
    await mountpoint -q "$dir/$1" ||
        left_out "no mount on host $1: $(tail -n 1 "$dir/log/mount-$1")"
}
client a "$enter_a"
client b "$enter_b"
work "$(ceph-fuse --version | cut -d ' ' -f 3), ceph-fuse" -zombies pause,cut \
    -patience 40m -cut "$cut" -heal "$heal"
