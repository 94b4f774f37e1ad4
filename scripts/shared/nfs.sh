#!/bin/sh
# nfs.sh BIN COMMIT EDITS [VARIANT]: the driver of NFSv4.2: two clients and their server in
# user-mode-linux.
#
# VARIANT is default (default mount options), nolookup (lookupcache=none), samename (both clients
# have the same host name, so the server takes them for one client that shares its locks), or cuts
# (one client is cut off three times during the writes).
#
# The guest has the host's file tree, read-only. Its only output is its console.
set -u
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
# shellcheck source=scripts/shared/rig.sh
. "$here/rig.sh"
begin nfs "$@"
need linux.uml user-mode-linux
need modprobe kmod
need rpc.nfsd nfs-kernel-server
need mount.nfs nfs-common
need strace strace
need mkfs.ext4 e2fsprogs

modules=$(ls /usr/lib/uml/modules) || left_out 'no modules for user-mode-linux'
mkdir -p "$dir/lib/modules"
ln -s "/usr/lib/uml/modules/$modules" "$dir/lib/modules/$modules"
truncate -s 4G "$dir/disk"
mkfs.ext4 -q "$dir/disk"
cat >"$dir/init" <<INIT
#!/bin/sh
exec sh "$here/nfs_inside.sh" "$dir" "$bin" "$commit" "$edits" "$variant" "$what" "$parts"
INIT
chmod 755 "$dir/init"
wrap=
grep -qw amx_tile /proc/cpuinfo && wrap="$workload fxsr"
# shellcheck disable=SC2086 # $wrap is two words, or none
timeout --kill-after=10 4000 $wrap linux.uml mem=1G \
    root=/dev/root rootfstype=hostfs rootflags=/ ro "ubd0=$dir/disk" \
    "init=$dir/init" "uml_dir=$dir/uml" con0=fd:0,fd:1 con=null quiet \
    </dev/null >"$dir/console" 2>&1 &
started=$!
wait "$started"
tr -d '\r' <"$dir/console" | grep '^RESULT ' || {
    tail -n 30 "$dir/console" >&2
    left_out 'the guest did not finish; its console is above'
}
