#!/bin/sh
# window.sh N COMMAND SLICE...: run COMMAND SLICE for each SLICE, at most N at a time, each as an operation of its own.
#
# A slice that takes longer than $SOFT (5m) is asked to end, by SIGINT; after $HARD (6m) it is stopped. One that fails is
# started again, once. Of one that succeeds the output is printed. The exit status is 1 if one failed twice, or could not be
# started. SLICE is an id. Whoever ends this script ends its slices, and dpl-status shows how each of them ended.
# shellcheck disable=SC2086,SC2046 # what is not quoted is lists of ids
size=${1:?} command=${2:?} run=window-$$-$(date +%s) n=0 open='' failed=0 results=$(mktemp -d) || exit
shift 2
trap 'for op in $open; do dpl-abort --op $op 2>/dev/null; done; wait; rm -r "$results"' EXIT
trap 'exit 1' HUP INT TERM
while [ $# -gt 0 ] || [ $n -gt 0 ]; do
    while [ $# -gt 0 ] && [ $n -lt "$size" ] && slice=$1 && shift; do
        dpl-run --op "$run.$slice" --soft-timeout "${SOFT:-5m}" --timeout "${HARD:-6m}" -- "$command" "${slice%.again}" >"$results/$slice" &
        open="$open $run.$slice " n=$((n + 1))
        dpl-wait --op "$run.$slice" --for running --timeout 10s 2>/dev/null || [ $? = 1 ] || exit 1 # 1: it has ended already
    done
    ended=$(dpl-wait --any $(printf ' --op %s' $open)) || exit 1 # "OPERATION STATE" of each; this takes the first
    op=${ended%% *} n=$((n - 1))
    slice=${op#"$run."} open=${open%%" $op "*}${open#*" $op "}
    case $slice/${ended#* } in
    */completed*) cat "$results/$slice" ;;
    *.again/*) echo "window.sh: ${slice%.again} failed twice" >&2 && failed=1 ;;
    *) set -- "$slice.again" "$@" ;;
    esac
done
exit $failed
