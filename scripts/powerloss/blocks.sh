#!/bin/sh
# blocks.sh [--points N] [FLAG...]: cut the power under real file systems, and check what survives.
#
# As root. It logs the writes that reach a disk while the commands run on it. For each of N points
# (300) of that log it rebuilds the disk as it was then, mounts it, which lets the file system
# recover, and checks that everything the commands had acknowledged is there. In mode "prefix", all
# writes before the point reached the disk; in mode "drop", a random half of those since the last
# flush did not. The controls are commands without fsync: they must lose something. FLAGs go to the
# command that creates the ledger.
#
# It needs qemu-storage-daemon (Debian: qemu-system-common, qemu-utils), FUSE, loop devices, and the
# mkfs of each file system.
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 1
points=300
case ${1-} in --points)
    points=$2
    shift 2
    ;;
esac

# left_out WHAT NEEDS: say that WHAT was left out because NEEDS is missing; with STRICT=1, exit 1
left_out() {
    echo "power loss, $1: left out: needs $2"
    [ -z "${STRICT-}" ] || exit 1
}

daemon=
device=
dir=
mounted=

# detach: unmount the disk, detach its device and stop its daemon
detach() {
    [ -z "$mounted" ] || umount "$dir/mnt"
    mounted=
    [ -z "$device" ] || losetup -d "$device"
    device=
    if [ -n "$daemon" ]; then
        kill "$daemon" 2>/dev/null
        wait "$daemon" 2>/dev/null
    fi
    daemon=
}

clean() {
    trap '' HUP INT TERM
    detach
    [ -z "$dir" ] || rm -rf --one-file-system "$dir"
}

die() {
    echo "blocks.sh: $*" >&2
    exit 1
}

for tool in qemu-storage-daemon losetup mkfs.ext4 unshare go; do
    command -v "$tool" >/dev/null 2>&1 || {
        left_out 'block level' "$tool"
        exit 0
    }
done
if [ "$(id -u)" != 0 ]; then
    left_out 'block level' root
    exit 0
fi
if [ ! -e /dev/fuse ] || ! losetup -f >/dev/null 2>&1; then
    left_out 'block level' 'FUSE and loop devices'
    exit 0
fi
# In a mount namespace of its own, nothing stays mounted whatever happens.
[ -n "${DPL_POWERLOSS_MOUNTS-}" ] || DPL_POWERLOSS_MOUNTS=private \
    exec unshare --mount --propagation private sh "$0" --points "$points" "$@"

trap clean EXIT
trap 'exit 130' HUP INT TERM
scratch=${TMPDIR:-/tmp}
[ ! -w /dev/shm ] || scratch=/dev/shm # ten times as fast as a disk
dir=$(mktemp -d "$scratch/dpl-powerloss-XXXXXX") || exit 1
mkdir "$dir/mnt" "$dir/good" "$dir/files" "$dir/directories" || exit 1

cd "$here/../.." || exit 1
go build -o "$dir/replay" ./scripts/powerloss/replay || exit 1
CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o "$dir/good/" ./cmd/dpl... || exit 1
"$dir/good/dpl" links || exit 1
for without in files directories; do
    overlay=$("$dir/replay" overlay "$without" "$dir") || exit 1
    CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' "$overlay" -o "$dir/$without/" \
        ./cmd/dpl... || exit 1
    "$dir/$without/dpl" links || exit 1
done

# disk SIZE: make an empty disk whose writes go to $dir/log, and attach it as $device
disk() {
    rm -f "$dir/disk" "$dir/log" "$dir/export"
    truncate -s "$1" "$dir/disk" && truncate -s 8G "$dir/log" && : >"$dir/export" || exit 1
    logged=driver=blklogwrites,file=disk,log=log,log-sector-size=512,log-super-update-interval=1
    qemu-storage-daemon \
        --blockdev "node-name=disk,driver=file,filename=$dir/disk,discard=unmap" \
        --blockdev "node-name=log,driver=file,filename=$dir/log" \
        --blockdev "node-name=logged,$logged" \
        --export "type=fuse,id=export,node-name=logged,mountpoint=$dir/export,writable=on" \
        >"$dir/daemon" 2>&1 &
    daemon=$!
    tries=0
    until [ -s "$dir/export" ]; do
        kill -0 "$daemon" 2>/dev/null || die "qemu-storage-daemon: $(cat "$dir/daemon")"
        [ $((tries += 1)) -lt 1000 ] || die 'qemu-storage-daemon exports nothing'
        sleep 0.01
    done
    device=$(losetup -f --show "$dir/export") || die 'losetup'
}

# record FS OPTIONS SIZE BIN FLAG...: run the commands in BIN on a new disk
record() {
    fs=$1 options=$2 size=$3 bin=$4
    shift 4
    disk "$size"
    case $fs in
    ext4) mkfs.ext4 -q -F "$device" ;;
    xfs) mkfs.xfs -q -f "$device" ;;
    btrfs) mkfs.btrfs -q -f "$device" ;;
    esac >"$dir/mkfs" 2>&1 || die "mkfs.$fs: $(cat "$dir/mkfs")"
    mount -t "$fs" ${options:+-o "$options"} "$device" "$dir/mnt" || exit 1
    mounted=yes
    "$dir/replay" record --bin "$dir/$bin" --base "$dir/mnt/base" --log "$dir/log" \
        --acks "$dir/acks" "$@" || exit 1
    detach
    forget
}

# forget: make the kernel forget the disk, which btrfs would confuse with the next one
forget() {
    [ "$fs" != btrfs ] || btrfs device scan --forget >/dev/null 2>&1
}

failed=0

# check NAME MODE FLAG...: cut the power at points of the log that record wrote
check() {
    name=$1 mode=$2
    shift 2
    rm -f "$dir/image"
    truncate -s "$size" "$dir/image" || exit 1
    device=$(losetup -f --show "$dir/image") || die 'losetup'
    "$dir/replay" check --name "$name" --mode "$mode" --log "$dir/log" --acks "$dir/acks" \
        --image "$dir/image" --device "$device" --mount "$dir/mnt" --fs "$fs" --options "$options" \
        --bin "$dir/$bin" --points "$points" "$@" || failed=1
    ! mountpoint -q "$dir/mnt" || mounted=yes
    detach
    forget
}

printf '%-48s %-6s %6s %6s %10s %5s %8s\n' case mode points torn 'acked lost' stuck ms/point

# By default ext4 flushes a file that replaces another, which would hide a missing fsync.
record ext4 noauto_da_alloc 64M good --rounds 3 -- "$@"
check 'ext4 noauto_da_alloc' prefix
check 'ext4 noauto_da_alloc' drop
record ext4 noauto_da_alloc 64M good --writers 8 -- "$@"
check 'ext4 noauto_da_alloc, 8 writers' prefix
check 'ext4 noauto_da_alloc, 8 writers' drop
record ext4 data=writeback,noauto_da_alloc 64M good --rounds 3 -- "$@"
check 'ext4 data=writeback,noauto_da_alloc' prefix
check 'ext4 data=writeback,noauto_da_alloc' drop
record ext4 noauto_da_alloc 64M files -- "$@"
check 'CONTROL ext4 noauto_da_alloc, no file fsync' prefix --want torn
record ext4 noauto_da_alloc 64M directories -- "$@"
check 'CONTROL ext4 noauto_da_alloc, no directory fsync' prefix --want lost

if command -v mkfs.xfs >/dev/null 2>&1; then
    record xfs '' 320M good --rounds 3 -- "$@"
    check 'xfs' prefix
    check 'xfs' drop
    record xfs '' 320M good --writers 8 -- "$@"
    check 'xfs, 8 writers' drop
    record xfs '' 320M files -- "$@"
    check 'CONTROL xfs, no file fsync' prefix --want torn
    record xfs '' 320M directories -- "$@"
    check 'CONTROL xfs, no directory fsync' prefix --want lost
else
    left_out xfs mkfs.xfs
fi

if command -v mkfs.btrfs >/dev/null 2>&1; then
    record btrfs '' 128M good --rounds 3 -- "$@"
    check 'btrfs' prefix
    check 'btrfs' drop
    record btrfs '' 128M good --writers 8 -- "$@"
    check 'btrfs, 8 writers' drop
    record btrfs '' 128M directories -- "$@"
    check 'CONTROL btrfs, no directory fsync' prefix --want lost
else
    left_out btrfs mkfs.btrfs
fi
[ "$failed" = 0 ] || die "a case is wrong, or a control was not noticed"
