#!/bin/sh
# all.sh BIN [--quick]: DPL on shared file systems: 8 writers on two hosts, 1000 edits each, and a holder of the lock that comes back
# after it was given up for dead.
#
# It runs the drivers beside it one after the other, a line for each, and prints a table. A file system that cannot be set up
# here is left out, and the line says why. It exits 1 if a ledger that commits by link has lost an acknowledged edit. With
# commit: rename, the control, 100 edits do. --quick: 50 edits. RESULTS=FILE keeps what the table is made of.
set -u
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
[ $# -ge 1 ] || {
    echo 'usage: all.sh BIN [--quick]' >&2
    exit 64
}
bin=$(CDPATH='' cd -- "$1" && pwd -P) || exit 64
edits=1000 control=100
[ "${2:-}" != --quick ] || edits=50 control=50

dir=$(mktemp -d "${TMPDIR:-/tmp}/dpl-shared.XXXXXX") || exit 1
trap 'rm -rf --one-file-system "$dir"' EXIT
trap 'exit 130' HUP INT TERM
results=${RESULTS:-$dir/results}
: >"$results"

# try NAME VARIANT COMMIT: run a driver
try() {
    began=$(date +%s)
    n=$edits
    [ "$3" = link ] || n=$control
    sh "$here/$1.sh" "$bin" "$3" "$n" "$2" >"$dir/out" 2>"$dir/err" </dev/null
    if ! grep '^RESULT ' "$dir/out" >>"$results"; then
        printf 'RESULT {"FS":"%s","Options":"%s","Commit":"%s","Left":"left out: its driver failed"}\n' "$1" "$2" "$3" >>"$results"
        cat "$dir/err" >&2
    fi
    left=$(tail -n 1 "$results" | sed -n 's/.*"Left":"\([^"]*\)".*/: \1/p')
    echo "soak-shared: $1, $2, $3: $(($(date +%s) - began)) s$left"
}

for commit in link rename; do
    try local default "$commit"
    try nfs default "$commit"
    try nfs samename "$commit"
    try juicefs nocache "$commit"
    try juicefs default "$commit"
    try gluster nocache "$commit"
    try gluster default "$commit"
    try cephfs default "$commit"
    try sshfs default "$commit"
done
(cd "$here/../.." && go build -o "$dir/workload" ./scripts/shared/workload) || exit 1
"$dir/workload" table "$results"
