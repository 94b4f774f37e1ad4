#!/bin/sh
# bare.sh [COMMAND [ARG...]]: make demo and make check, or COMMAND, on a machine with nothing.
#
# It makes a minimal Debian with make, git and ca-certificates in $DPL_BARE (~/.cache/dpl-bare), clones
# what is committed here into it, and runs both there as root, with processes, mounts and /proc of its
# own. Go and its module cache are those of this machine. Whatever fails, both are run; it exits 1 if
# one failed. It needs root and debootstrap.
set -eu

die() {
    echo "bare.sh: $1" >&2
    exit 1
}

here=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd -P)
[ "$(id -u)" = 0 ] || die 'it has to be run by root'

# Inside its own mounts and processes: furnish the root, and go there.
if [ "${1-}" = --inside ]; then
    root=$2
    shift 2
    mount --rbind "$root" "$root" # what is done to the mounts of / in there needs a mount
    mount --rbind /dev "$root/dev"
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount -t tmpfs tmpfs "$root/tmp"
    chmod 1777 "$root/tmp"
    mount --bind "$(go env GOROOT)" "$root/usr/local/go"
    mount --bind "$(go env GOMODCACHE)" "$root/root/go/pkg/mod"

    # shellcheck disable=SC2016 # it is for the shell in there
    [ $# != 0 ] || set -- sh -c 'make demo; demo=$?; make check && exit "$demo"'
    # Word splitting is wanted: each variable of the proxies is a word.
    # shellcheck disable=SC2046
    exec chroot "$root" env -i HOME=/root USER=root LC_ALL=C.UTF-8 TERM=dumb \
        PATH=/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        GOPROXY="$(go env GOPROXY)" GOSUMDB="$(go env GOSUMDB)" GOFLAGS="$(go env GOFLAGS)" \
        $(env | grep -iE '^(https?|no)_proxy=[^ ]*$') \
        sh -c 'cd /root/dpl && exec "$@"' sh "$@"
fi

for program in debootstrap unshare git go; do
    command -v "$program" >/dev/null || die "no $program: apt-get install debootstrap util-linux git, and Go"
done
store=${DPL_BARE:-${XDG_CACHE_HOME:-$HOME/.cache}/dpl-bare}
root=$store/root

# A tree that was not completed has no mark. apt's proxy settings are those of this machine.
if [ ! -e "$root/.complete" ]; then
    rm -rf --one-file-system "$root"
    mkdir -p "$store"
    debootstrap --variant=minbase --include=make,git,ca-certificates bookworm "$root" >"$store/log" ||
        die "debootstrap failed: see $store/log"
    touch "$root/.complete"
fi
mkdir -p "$root/usr/local/go" "$root/root/go/pkg/mod"
cp /etc/resolv.conf "$root/etc/resolv.conf"
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt" # a proxy may have its own
rm -rf "$root/root/dpl"
git clone -q --no-hardlinks "$here" "$root/root/dpl"

exec unshare --mount --pid --fork --kill-child sh "$here/scripts/bare/bare.sh" --inside "$root" "$@"
