#!/bin/sh
# window.sh N COMMAND SLICE...: run COMMAND SLICE for each SLICE, at most N at a time.
#
# Each slice is an operation of its own; SLICE is an id. A slice that takes longer than $SOFT (5m)
# gets SIGINT, and is stopped after $HARD (6m). The script prints the output of a slice that
# succeeds, and retries once a slice that fails. It exits 1 if a slice failed twice or could not be
# started. To stop all slices, stop the script. dpl-status shows how each of them ended.
# shellcheck disable=SC2086,SC2046 # the unquoted variables are lists of ids
size=${1:?} command=${2:?} run=window-$$-$(date +%s) n=0 open='' failed=0
results=$(mktemp -d) || exit
shift 2
trap 'for op in $open; do dpl-abort --op $op 2>/dev/null; done; wait; rm -r "$results"' EXIT
trap 'exit 1' HUP INT TERM
while [ $# -gt 0 ] || [ $n -gt 0 ]; do
    while [ $# -gt 0 ] && [ $n -lt "$size" ] && slice=$1 && shift; do
        dpl-run --op "$run.$slice" --soft-timeout "${SOFT:-5m}" --timeout "${HARD:-6m}" -- \
            "$command" "${slice%.again}" >"$results/$slice" &
        open="$open $run.$slice " n=$((n + 1))

        # 1: it has already ended
        dpl-wait --op "$run.$slice" --for running --timeout 10s 2>/dev/null || [ $? = 1 ] || exit 1
    done

    # dpl-wait prints a line "OPERATION STATE" for each that has ended; take the first.
    ended=$(dpl-wait --any $(printf ' --op %s' $open)) || exit 1
    op=${ended%% *} n=$((n - 1))
    slice=${op#"$run."} open=${open%%" $op "*}${open#*" $op "}
    case $slice/${ended#* } in
    */completed*) cat "$results/$slice" ;;
    *.again/*) echo "window.sh: ${slice%.again} failed twice" >&2 && failed=1 ;;
    *) set -- "$slice.again" "$@" ;;
    esac
done
exit $failed
