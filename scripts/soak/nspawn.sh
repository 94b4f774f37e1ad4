#!/bin/sh
# nspawn.sh BINDIR: run the units of scripts/systemd and the commands in BINDIR under a real
# systemd and a real cron.
#
# As root. It boots a small Debian in systemd-nspawn; there inside.sh checks what the units do, and
# prints a line for each check. It takes about two minutes, because cron looks once a minute, and
# half a minute more the first time, when it downloads Debian and keeps it in $DPL_SOAK_CACHE
# (~/.cache/dpl-soak). It needs the Debian packages systemd-container and mmdebstrap, and the
# sources of Lua, from scripts/upstream/source.sh.
set -u
dir=
booted=

die() {
    echo "soak: $*" >&2
    exit 1
}

clean() {
    trap '' HUP INT TERM
    if [ -n "$booted" ]; then
        kill -TERM "$booted" 2>/dev/null # powers the machine off
        wait "$booted" 2>/dev/null
    fi
    [ -z "$dir" ] || rm -rf --one-file-system "$dir"
}
trap clean EXIT
trap 'exit 130' HUP INT TERM

# tree FILE: make an archive of a Debian that boots, if there is none
tree() {
    [ ! -e "$1" ] || return 0
    echo "soak: making $1"
    mkdir -p "$(dirname "$1")" || exit 1
    mmdebstrap --quiet --variant=minbase \
        --include=systemd,systemd-sysv,dbus,dbus-user-session,libpam-systemd,cron,procps \
        --include=gcc,libc6-dev \
        bookworm "$dir/new.tar" >"$dir/mmdebstrap" 2>&1 ||
        die "mmdebstrap: $(tail -n 5 "$dir/mmdebstrap")"
    mv "$dir/new.tar" "$1" || exit 1
}

# furnish ROOT: install the commands, the units as their comments say, and inside.sh
furnish() {
    mkdir -p "$1/usr/local/bin" || exit 1
    cp -P "$bin"/dpl* "$1/usr/local/bin/" || exit 1
    cp "$here"/../systemd/system/* "$1/etc/systemd/system/" || exit 1
    chroot "$1" useradd --create-home --shell /bin/sh alice || exit 1
    chroot "$1" install -d -o alice -g alice \
        /home/alice/.config /home/alice/.config/systemd /home/alice/.config/systemd/user || exit 1
    cp "$here"/../systemd/user/* "$1/home/alice/.config/systemd/user/" || exit 1
    install -m 755 "$here/inside.sh" "$here/service.sh" "$1/usr/local/bin/" || exit 1
    install -m 755 "$here/../examples/build-lua.sh" "$1/usr/local/bin/" || exit 1
    cp -r /usr/src/lua5.4 "$1/usr/local/src/" || exit 1
    install -m 644 "$here/../cron/crontab" "$1/usr/local/share/crontab" || exit 1
    cat >"$1/etc/systemd/system/soak.service" <<'UNIT' || exit 1
[Unit]
Description=inside.sh, in a login
After=multi-user.target
[Service]
Type=oneshot
ExecStart=/usr/local/bin/inside.sh
StandardOutput=append:/soak.out
StandardError=inherit
ExecStopPost=/bin/systemctl --no-block poweroff
UNIT
    mkdir -p "$1/etc/systemd/system/graphical.target.wants" || exit 1
    ln -s ../soak.service "$1/etc/systemd/system/graphical.target.wants/" || exit 1
}

[ $# = 1 ] || die 'usage: nspawn.sh BINDIR'
[ "$(id -u)" = 0 ] || die 'it must be run by root'
for program in systemd-nspawn mmdebstrap; do
    command -v "$program" >/dev/null ||
        die "no $program: apt-get install systemd-container mmdebstrap"
done
bin=$(CDPATH='' cd -- "$1" && pwd -P) || die "$1: no such directory: run make first"
[ -e /usr/src/lua5.4 ] || die 'no /usr/src/lua5.4: sh scripts/upstream/source.sh lua5.4'
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
dir=$(mktemp -d "${TMPDIR:-/tmp}/dpl-soak.XXXXXX") || die 'no temporary directory'
chmod 755 "$dir"

cache=${DPL_SOAK_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/dpl-soak}/bookworm-gcc.tar
tree "$cache"
mkdir "$dir/root"
tar -xpf "$cache" --xattrs -C "$dir/root" || die "$cache: remove it and try again"
furnish "$dir/root"
: >"$dir/root/soak.out"
timeout --kill-after=20 240 systemd-nspawn --quiet --directory="$dir/root" \
    --machine="dpl-soak-$$" --register=no --keep-unit --private-network \
    --drop-capability=CAP_SYS_TIME --boot </dev/null >"$dir/console" 2>&1 &
booted=$!
tail -n +1 -f --pid="$booted" "$dir/root/soak.out" &
wait "$!" # not in the foreground, which would delay the traps
wait "$booted"
booted=
grep -q Powering "$dir/console" || {
    tail -n 20 "$dir/console" >&2
    die 'the machine did not finish'
}
passed=$(grep -c '^ok ' "$dir/root/soak.out")
failed=$(grep -c '^FAILED ' "$dir/root/soak.out")
[ "$failed" = 0 ] || die "$failed of $((passed + failed)) checks failed"
echo "soak: all $passed checks passed"
