#!/bin/sh
# bare.sh [COMMAND [ARG...]]: run make demo and make check, or COMMAND, on a bare Debian.
#
# It makes a minimal Debian with make, git and ca-certificates in $DPL_BARE (~/.cache/dpl-bare),
# clones the committed sources into it, and runs both there as root, with its own processes, mounts
# and /proc. Go and its module cache are shared with this machine. make check runs even if make demo
# failed; the exit status is 1 if either failed. It needs root and debootstrap.
set -eu

die() {
    echo "bare.sh: $1" >&2
    exit 1
}

here=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd -P)
[ "$(id -u)" = 0 ] || die 'it must be run by root'

# In the new namespaces: prepare the root directory and enter it.
if [ "${1-}" = --inside ]; then
    root=$2
    shift 2
    mount --rbind "$root" "$root" # tests inside remount /, so it must be a mount point
    mount --rbind /dev "$root/dev"
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount -t tmpfs tmpfs "$root/tmp"
    chmod 1777 "$root/tmp"
    mount --bind "$(go env GOROOT)" "$root/usr/local/go"
    mount --bind "$(go env GOMODCACHE)" "$root/root/go/pkg/mod"

    # shellcheck disable=SC2016 # the inner shell expands it
    [ $# != 0 ] || set -- sh -c 'make demo; demo=$?; make check && exit "$demo"'
    # shellcheck disable=SC2046 # each proxy variable is a word
    exec chroot "$root" env -i HOME=/root USER=root LC_ALL=C.UTF-8 TERM=dumb \
        PATH=/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        GOPROXY="$(go env GOPROXY)" GOSUMDB="$(go env GOSUMDB)" GOFLAGS="$(go env GOFLAGS)" \
        $(env | grep -iE '^(https?|no)_proxy=[^ ]*$') \
        sh -c 'cd /root/dpl && exec "$@"' sh "$@"
fi

for program in debootstrap unshare git go; do
    command -v "$program" >/dev/null ||
        die "no $program: apt-get install debootstrap util-linux git, and Go"
done
store=${DPL_BARE:-${XDG_CACHE_HOME:-$HOME/.cache}/dpl-bare}
root=$store/root

# An incomplete tree lacks the mark. apt uses the proxy settings of this machine.
if [ ! -e "$root/.complete" ]; then
    rm -rf --one-file-system "$root"
    mkdir -p "$store"
    debootstrap --variant=minbase --include=make,git,ca-certificates bookworm "$root" \
        >"$store/log" || die "debootstrap failed: see $store/log"
    touch "$root/.complete"
fi
mkdir -p "$root/usr/local/go" "$root/root/go/pkg/mod"
cp /etc/resolv.conf "$root/etc/resolv.conf"

# The certificates of this machine, because a proxy may have its own.
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
rm -rf "$root/root/dpl"
git clone -q --no-hardlinks "$here" "$root/root/dpl"

exec unshare --mount --pid --fork --kill-child sh "$here/scripts/bare/bare.sh" --inside "$root" "$@"
