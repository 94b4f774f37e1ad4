#!/bin/sh
# uml.sh BINDIR: set the clock of a real kernel while the commands in BINDIR work, then reboot it.
#
# As any user. It boots user-mode-linux twice, with one disk. In there inside.sh steps the clock by
# an hour, to 2031 and to 2019, and prints which participants were declared dead, when and why. The
# exit status is 1 if a live participant was declared dead, or if a dead one was found too late.
#
# It takes about two minutes. It needs the Debian packages user-mode-linux and e2fsprogs and, on a
# processor with AMX, a C compiler. Without user-mode-linux it says so and exits 0, or 1 with
# STRICT=1.
set -u
dir=
booted=

die() {
    echo "clocks: $*" >&2
    exit 1
}

clean() {
    trap '' HUP INT TERM
    if [ -n "$booted" ]; then
        kill -KILL "$booted" 2>/dev/null
        wait "$booted" 2>/dev/null
    fi
    [ -z "$dir" ] || rm -rf --one-file-system "$dir"
}
trap clean EXIT
trap 'exit 130' HUP INT TERM

# boot PHASE: run inside.sh in a machine, and append its output to $dir/said
boot() {
    # timeout kills only the first process of the machine, and the processes that it traces die with
    # it.
    LD_PRELOAD=$shim timeout --foreground --kill-after=5 300 linux.uml mem=256M \
        root=/dev/root rootfstype=hostfs rootflags=/ ro ubd0="$dir/disk" uml_dir="$dir" \
        init="$here/inside.sh" con0=null,fd:1 con=null quiet \
        CLOCKS_PHASE="$1" CLOCKS_BIN="$bin" </dev/null >"$dir/console.$1" 2>&1 &
    booted=$!
    wait "$booted"
    booted=
    tr -d '\r' <"$dir/console.$1" | sed -n 's/^clocks| //p' >"$dir/new"
    grep -v '^end of phase' "$dir/new"
    cat "$dir/new" >>"$dir/said"
    grep -q "^end of phase $1\$" "$dir/new" || {
        tail -n 20 "$dir/console.$1" >&2
        die "phase $1 did not finish"
    }
}

[ $# = 1 ] || die 'usage: uml.sh BINDIR'
bin=$(CDPATH='' cd -- "$1" && pwd -P) || die "$1: no such directory: run make first"
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
for program in linux.uml mke2fs; do
    command -v "$program" >/dev/null || {
        echo "clocks: left out: needs $program (Debian: user-mode-linux e2fsprogs)"
        [ -z "${STRICT:-}" ]
        exit
    }
done
dir=$(mktemp -d "${TMPDIR:-/tmp}/dpl-clocks.XXXXXX") || die 'no temporary directory'

shim=
if grep -qw amx_tile /proc/cpuinfo; then
    cc -O2 -shared -fPIC -o "$dir/xstate.so" "$here/xstate.c" ||
        die 'linux.uml needs a C compiler on a processor with AMX'
    shim=$dir/xstate.so
fi
truncate -s 64M "$dir/disk" || exit 1
mke2fs -q -t ext4 -F "$dir/disk" || exit 1

boot 1
grep -q '^FAILED' "$dir/said" || boot 2
checks=$(grep -c '^ok' "$dir/said")
failed=$(grep -c '^FAILED' "$dir/said")
[ "$failed" = 0 ] || die "$failed of $((checks + failed)) checks failed"
echo "clocks: all $checks checks passed"
