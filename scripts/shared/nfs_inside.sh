#!/bin/sh
# nfs_inside.sh DIR BIN COMMIT EDITS VARIANT WHAT PARTS: the init of the guest that nfs.sh boots.
#
# It is the server; the clients are two network namespaces with host names of their own.
set -u
dir=$1 bin=$2 commit=$3 edits=$4 variant=$5 what=$6 parts=$7
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/run TMPDIR=/run
# No program may use the wide registers, which user-mode-linux may have lost (see workload fxsr).
wide=-AVX,-AVX2,-AVX512F,-AVX512VL,-AVX512BW,-AVX512DQ,-AVX512CD
export GODEBUG=cpu.all=off GLIBC_TUNABLES="glibc.cpu.hwcaps=$wide"

# shellcheck source=scripts/shared/rig.sh
. "${0%/*}/rig.sh"

stop() {
    echo o >/proc/sysrq-trigger
    sleep 60
}
trap stop EXIT

fail() {
    echo "nfs_inside: $*"
    exit 1
}

mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs run /run
mount -t tmpfs nfs /var/lib/nfs
mount -t tmpfs mnt /mnt
mkdir -p /run/netns /var/lib/nfs/sm /var/lib/nfs/v4recovery /var/lib/nfs/rpc_pipefs
mkdir -p /mnt/server /mnt/a /mnt/b
touch /var/lib/nfs/etab /var/lib/nfs/rmtab /var/lib/nfs/state
for module in nfsd nfsv4 veth; do
    modprobe -d "$dir" "$module" || fail "modprobe $module"
done
hostname server
ip link set lo up
mount -t ext4 /dev/ubda /mnt/server || fail 'no disk'
mkdir -m 700 /mnt/server/shared
mount -t nfsd nfsd /proc/fs/nfsd || fail 'no nfsd'
mount -t rpc_pipefs rpc /var/lib/nfs/rpc_pipefs
echo 10 >/proc/fs/nfsd/nfsv4leasetime
echo 10 >/proc/fs/nfsd/nfsv4gracetime
rpc.mountd --no-udp --no-nfs-version 3 || fail 'no mountd'
exportfs -o rw,sync,no_root_squash,no_subtree_check,fsid=0 '10.9.0.0/16:/mnt/server' ||
    fail 'no export'
rpc.nfsd --no-udp --no-nfs-version 3 --lease-time 10 --grace-time 10 8 || fail 'no server'

# client NAME NUMBER HOSTNAME: make a host with a network of its own, and mount the export there
client() {
    ip netns add "$1"
    ip link add "srv$1" type veth peer name eth0 netns "$1"
    ip addr add "10.9.$2.1/24" dev "srv$1"
    ip link set "srv$1" up
    ip -n "$1" addr add "10.9.$2.2/24" dev eth0
    ip -n "$1" link set eth0 up
    ip -n "$1" link set lo up
    touch "/run/uts-$1"
    unshare --uts="/run/uts-$1" hostname "$3"
    nsenter --net="/run/netns/$1" --uts="/run/uts-$1" \
        mount -t nfs4 -o "$options" "10.9.$2.1:/shared" "/mnt/$1" || fail "no mount on $1"
}

options=vers=4.2 names='hosta hostb' cuts=0
case $variant in
nolookup) options=vers=4.2,lookupcache=none ;;
samename) names='host host' ;;
cuts) cuts=3 ;;
esac
client a 1 "${names% *}"
client b 2 "${names#* }"
grep ' nfs4 ' /proc/mounts

enter_a="nsenter --net=/run/netns/a --uts=/run/uts-a"
enter_b="nsenter --net=/run/netns/b --uts=/run/uts-b"
if [ "$what" = queues ]; then
    echo 4194304 >/proc/sys/kernel/pid_max
    dir=/run boots
fi
"$dir/workload" "$what" -name nfs -version "v4.2, Linux $(uname -r)" -options "$variant" \
    -commit "$commit" -edits "$edits" -period "${edits}s" -scratch /run -patience 50m \
    -parts "$parts" \
    -zombies pause,cut,late -cuts "$cuts" \
    -a /mnt/a -enter-a "$enter_a" \
    -b /mnt/b -enter-b "$enter_b" \
    -cut 'ip -n a link set eth0 down' -heal 'ip -n a link set eth0 up' "$bin"
