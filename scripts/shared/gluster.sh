#!/bin/sh
# gluster.sh BIN COMMIT EDITS [VARIANT]: the driver of GlusterFS, with a volume of three replicas,
# mounted on two hosts.
#
# VARIANT is default, nocache (neither the kernel nor the volume caches anything), or cuts (default,
# and one host is cut off three times during the writes).
set -u
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
# shellcheck source=scripts/shared/rig.sh
. "$here/rig.sh"
begin gluster "$@"
need glusterd glusterfs-server
need fusermount3 fuse3
isolate
hosts
network

# glusterd keeps its state in these directories. It does not accept 127.0.0.1.
for state in /var/lib/glusterd /var/log/glusterfs; do
    mkdir -p "$dir/state$state" "$state"
    mount --bind "$dir/state$state" "$state" || left_out "no directory $state"
done
mkdir -p /run/gluster "$dir/a" "$dir/b"
glusterd || left_out 'glusterd does not start'
await gluster volume list || left_out 'glusterd does not answer'

volume() { gluster --mode=script volume "$@" >>"$dir/volume.log" 2>&1; }

volume create soak replica 3 "10.99.0.1:$dir/1" "10.99.0.1:$dir/2" "10.99.0.1:$dir/3" force ||
    left_out 'no volume'

# With these options the servers release the locks of a client that is cut off after some seconds,
# not after the default 42. The timeout of the clients keeps its default: with 5 seconds, a client
# on a busy machine believed that all servers were dead, and hung forever.
#
# With 2 event threads, the default, a client hung forever as soon as two commands were killed that
# asked for a lock: both threads waited for the end of an interruption, whose answer only they read.
for option in 'server.tcp-user-timeout 5' 'server.keepalive-time 5' \
    'server.keepalive-interval 1' 'server.keepalive-count 3' 'client.event-threads 32'; do
    # shellcheck disable=SC2086 # a name and a value
    volume set soak $option || left_out "no option $option"
done
options='' cuts=0
[ "$variant" != cuts ] || cuts=3
[ "$what" = run ] || cuts=$((cuts * 3))
if [ "$variant" = nocache ]; then
    options='--attribute-timeout=0 --entry-timeout=0'
    for option in quick-read stat-prefetch io-cache open-behind readdir-ahead; do
        volume set soak "performance.$option" off || left_out "no option $option"
    done
fi
volume start soak || left_out 'the volume does not start'

# client HOST ENTER: mount the volume on HOST
client() {
    # shellcheck disable=SC2086 # $2 and $options are several words, or none
    $2 glusterfs $options --volfile-server=10.99.0.1 --volfile-id=soak "$dir/$1" \
        >"$dir/mount-$1.log" 2>&1
    await mountpoint -q "$dir/$1" || left_out "no mount on host $1"
}
client a "$enter_a"
client b "$enter_b"
work "$(glusterd --version | sed -n '1s/glusterfs //p'), replica 3" -zombies pause,cut,late \
    -cuts "$cuts" -patience 40m -cut "$cut" -heal "$heal"
