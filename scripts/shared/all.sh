#!/bin/sh
# all.sh BIN [--quick] [FS...]: DPL on shared file systems: 8 writers on two hosts, 1000 edits each, and a holder of the lock that
# comes back after it was given up for dead.
#
# It runs the drivers beside it, or those of FS, one after the other, a line for each, and prints a table. A file system that
# cannot be set up here is left out, and the line says why. It exits 1 if a ledger that commits by link has lost an
# acknowledged edit, or if no ledger that commits by rename has: those are the control, and make 100 edits. --quick: 50 edits.
# RESULTS=FILE keeps what the table is made of.
set -u
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
[ $# -ge 1 ] || {
    echo 'usage: all.sh BIN [--quick] [FS...]' >&2
    exit 64
}
bin=$(CDPATH='' cd -- "$1" && pwd -P) || exit 64
shift
edits=1000 control=100
if [ "${1:-}" = --quick ]; then
    edits=50 control=50
    shift
fi
wanted=" ${*:-local nfs juicefs gluster cephfs sshfs} "

dir=$(mktemp -d "${TMPDIR:-/tmp}/dpl-shared.XXXXXX") || exit 1
trap 'rm -rf --one-file-system "$dir"' EXIT
trap 'exit 130' HUP INT TERM
results=${RESULTS:-$dir/results}
: >"$results"
(cd "$here/../.." && go build -o "$dir/workload" ./scripts/shared/workload) || exit 1

# try COMMIT EDITS FS VARIANT...: run the driver of a file system, if it is wanted, once for each variant
try() {
    commit=$1 n=$2 fs=$3
    shift 3
    case $wanted in
    *" $fs "*) ;;
    *) return ;;
    esac
    for variant; do
        began=$(date +%s)
        sh "$here/$fs.sh" "$bin" "$commit" "$n" "$variant" >"$dir/out" 2>"$dir/err" </dev/null
        if ! grep '^RESULT ' "$dir/out" >>"$results"; then
            printf 'RESULT {"FS":"%s","Options":"%s","Commit":"%s","Left":"left out: its driver failed"}\n' "$fs" "$variant" "$commit" >>"$results"
            cat "$dir/err" >&2
        fi
        left=$(tail -n 1 "$results" | sed -n 's/.*"Left":"\([^"]*\)".*/: \1/p')
        echo "soak-shared: $fs, $variant, $commit: $(($(date +%s) - began)) s$left"
    done
}

try link "$edits" local default
try link "$edits" nfs default cuts samename
try link "$edits" juicefs default cuts
try link "$edits" gluster default cuts
try link "$edits" cephfs default
try link "$edits" sshfs default
try rename "$control" local default
try rename "$control" nfs default samename
try rename "$control" juicefs nocache
try rename "$control" gluster nocache
try rename "$control" cephfs default
"$dir/workload" table "$results"
