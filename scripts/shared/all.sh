#!/bin/sh
# all.sh BIN [--quick] [FS...]: test DPL on shared file systems.
#
# 8 writers on two hosts make 1000 edits each, while holders of the lock come back after they were
# given up for dead. Then 16 clients on two hosts use a queue for 5 minutes, of which some are killed,
# one host takes over what the other has claimed, and porcupine explains short histories. The drivers beside this script, or those of FS, run one after the other; each
# prints a line, and in the end there is a table. A file system that cannot be set up here is left
# out, and the line says why.
#
# It exits 1 if a ledger that commits by link has lost an acknowledged edit, or if no ledger that
# commits by rename has: those are the control, with 100 edits; or if anything is wrong with a queue,
# for which no host is cut off by rename. --quick: 50 edits, 30 seconds. RESULTS=FILE keeps the
# results of the drivers.
set -u
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
[ $# -ge 1 ] || {
    echo 'usage: all.sh BIN [--quick] [FS...]' >&2
    exit 64
}
bin=$(CDPATH='' cd -- "$1" && pwd -P) || exit 64
shift
edits=1000 control=100 period=300
if [ "${1:-}" = --quick ]; then
    edits=50 control=50 period=30
    shift
fi
wanted=" ${*:-local nfs juicefs gluster cephfs sshfs} "

dir=$(mktemp -d "${TMPDIR:-/tmp}/dpl-shared.XXXXXX") || exit 1
trap 'rm -rf --one-file-system "$dir"' EXIT
trap 'exit 130' HUP INT TERM
results=${RESULTS:-$dir/results}
: >"$results"
(cd "$here/../.." && go build -o "$dir/workload" ./scripts/shared/workload) || exit 1

# try COMMIT EDITS FS VARIANT...: run the driver of FS, if it was asked for, once for each variant
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
            printf 'RESULT {"FS":"%s","Options":"%s","Commit":"%s","Left":"left out: %s"}\n' \
                "$fs" "$variant" "$commit" 'its driver failed' >>"$results"
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
try link "$period" local queues:default
try link "$period" nfs queues:default
try link "$period" gluster queues:default queues:cuts
try rename "$period" local queues:default
try rename "$period" nfs queues:default
try rename "$period" gluster queues:nocache
try rename "$control" local default
try rename "$control" nfs default samename
try rename "$control" juicefs nocache
try rename "$control" gluster nocache
try rename "$control" cephfs default
"$dir/workload" table "$results"
