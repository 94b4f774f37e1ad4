# What the drivers share. A driver sources it, and calls begin first.
#
# shellcheck shell=sh disable=SC2034 # the driver reads the variables

# begin NAME BIN COMMIT EDITS [VARIANT]: set bin, commit, edits and variant; make a directory for the run, and have it go in
# the end, with what was started.
begin() {
    name=$1
    [ $# -ge 4 ] || {
        echo "usage: $name.sh BIN COMMIT EDITS [VARIANT]" >&2
        exit 64
    }
    bin=$(CDPATH='' cd -- "$2" && pwd -P) || exit 64
    commit=$3 edits=$4 variant=${5:-default}
    started='' mounted=''
    [ "$(id -u)" = 0 ] || left_out 'needs root'
    dir=$(mktemp -d "${TMPDIR:-/tmp}/dpl-shared.XXXXXX") || exit 1
    trap end EXIT
    trap 'exit 130' HUP INT TERM
    workload=$dir/workload
    (cd "$here/../.." && CGO_ENABLED=0 go build -o "$workload" ./scripts/shared/workload) || exit 1
}

# end undoes what the driver has noted in mounted and started, and in what it does in undo.
end() {
    status=$?
    trap '' HUP INT TERM EXIT
    for point in $mounted; do umount -l "$point" 2>/dev/null; done
    for pid in $started; do kill -TERM "$pid" 2>/dev/null; done
    for pid in $started; do wait "$pid" 2>/dev/null; done
    rm -rf --one-file-system "$dir"
    exit "$status"
}

# left_out REASON: say in the form of a result why there is none.
left_out() {
    printf 'RESULT {"FS":"%s","Options":"%s","Commit":"%s","Left":"%s"}\n' "$name" "${variant:-}" "${commit:-}" "$1"
    exit 0
}

# need PROGRAM PACKAGE: leave the file system out without it.
need() {
    command -v "$1" >/dev/null || left_out "no $1: apt-get install $2"
}
