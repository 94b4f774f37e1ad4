#!/bin/sh
# safe-call.sh COMMAND [ARG...]: call COMMAND, for at most $LIMIT (30s), learn how that ended, and clean up.
#
# Whatever comes first ends the call: COMMAND itself, the limit, or a failure of the operation ($DPL_OP, else a new one)
# anywhere else: a participant crashes, a call fails, or somebody aborts. COMMAND may be a client that waits for the answer
# of somebody else who takes part in the operation: it is the crash of that one, too, that ends the call. A COMMAND that
# itself exits 3 or 124 says the same by it.
set -u

# clean_up STATUS TEXT...: where a caller deletes what it has begun, or calls another
clean_up() {
    trap '' HUP INT TERM
    status=$1
    shift
    echo "$*: cleaning up" >&2
    exit "$status"
}

trap 'clean_up 3 "told to end"' HUP INT TERM # as by a dpl-run that runs this script
dpl-run --timeout "${LIMIT:-30s}" -- "$@" || case $? in
124) clean_up 124 "$1: too late" ;;
3 | 4 | 5) clean_up 3 "$1: stopped, for the operation has failed" ;;
*) clean_up 1 "$1: failed" ;;
esac
echo "$1: done"
