#!/bin/sh
# worker.sh CALL [CALLEE...]: a worker of the demo, for machines without python3 or node.
#
# It takes part in $DPL_OP as CALL. It calls CALLEE and waits for it; without one it works until the
# file `go` appears. It changes the ledger only with the commands, and prints each as it was typed.
set -u
call=$1
shift

run() {
    echo "worker.sh \$ $*"
    "$@"
    status=$?
    echo "worker.sh: exit status $status"
    return $status
}

push="dpl-push --sh --participant worker.sh --call $call --pid $$ --tmp --resource work/$call.txt"
echo "worker.sh \$ eval \"\$($push)\""
eval "$($push)"
status=$?
echo "worker.sh: exit status $status"
[ "$status" = 0 ] || exit 1
echo "scratch of $call" >"$DPL_TMP/scratch"
echo "half a result of $call" >"work/$call.txt"

failed=0
if [ $# -gt 0 ]; then
    "$@"
    case $? in 0 | 3) ;; *) failed=1 ;; esac
else
    deadline=$(($(date +%s) + 60))
    while [ ! -e go ] && [ "$(date +%s)" -lt "$deadline" ]; do
        sleep 0.02 2>/dev/null || sleep 1
    done
fi

run dpl-heartbeat --call "$call"
case $status$failed in
3?) # aborted or in cleanup
    run dpl-heartbeat --call "$call" --cleaning
    rm "work/$call.txt"
    run dpl-pop --call "$call"
    exit 3
    ;;
00)
    echo "result of $call" >"work/$call.txt"
    run dpl-pop --call "$call"
    ;;
01)
    run dpl-pop --call "$call" --fail
    exit 1
    ;;
esac
exit "$status"
