#!/bin/sh
# safe-call.sh COMMAND [ARG...]: call COMMAND for at most $LIMIT (30s), and clean up if it fails.
#
# The call ends when COMMAND ends, when the limit is over, or when the operation ($DPL_OP, else a
# new one) fails elsewhere, whichever comes first. An operation fails when a participant crashes, a
# call fails, or someone aborts it. COMMAND may be a client that waits for an answer from another
# participant: then a crash of that participant also ends the call. If COMMAND itself exits 3 or
# 124, that counts as a stop or as a timeout.
set -u

# clean_up STATUS TEXT...: say TEXT and exit. Delete here what the call left unfinished.
clean_up() {
    trap '' HUP INT TERM
    status=$1
    shift
    echo "$*: cleaning up" >&2
    exit "$status"
}

trap 'clean_up 3 "told to end"' HUP INT TERM # for example by the dpl-run that runs this script
dpl-run --timeout "${LIMIT:-30s}" -- "$@" || case $? in
124) clean_up 124 "$1: too late" ;;
3 | 4 | 5) clean_up 3 "$1: stopped, because the operation failed" ;;
*) clean_up 1 "$1: failed" ;;
esac
echo "$1: done"
