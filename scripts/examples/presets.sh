#!/bin/sh
# presets.sh KIND ID COMMAND [ARG...]: register COMMAND as the service ID of the group $DPL_GROUP.
#
#   mortal    a job that may fail: it has completed when it succeeds. After 4 failures in 5 minutes
#             it is dead. Between them are 2, 4, 8, ... seconds, up to a minute.
#   drone     a small job: it is tried once more, and raises no alert except that it is dead. An
#             hour after it has ended, dpl-cleanup removes it.
#   eternal   it must always run. Restarts wait 5, 10, 20, ... seconds, up to 5 minutes. After 10 in
#             an hour, the next failure makes it dead, and its alert asks a person to look, by the
#             command of dpl-orchestrate --on-alert. Then dpl-restart starts it again.
#   slice     a part of a larger work: after $SOFT (5m) its dpl-heartbeat exits 6 and it has to give
#             its state with --note; after $HARD (6m) it is stopped. It is tried once more, and finds
#             its state in $DPL_RESTART_FILE.
#
# Passes start them; let a timer make passes (scripts/systemd, scripts/cron). More options, such as
# --depends-on, go to a later "dpl-register --request --service ID": it changes only those.
kind=${1:?} id=${2:?}
shift 2
[ $# -gt 0 ] || {
    echo "presets.sh: COMMAND is missing" >&2
    exit 64
}

register() { dpl-register --request --no-pass --service "$id" "$@"; }
case $kind in
mortal)
    register --restart transient --max-attempts -1 --intensity 3/5m --backoff 2s..1m -- "$@"
    ;;
drone)
    register --restart transient --max-attempts 1 --intensity 1/1m --backoff 0 \
        --alert-on final --keep-ended 1h -- "$@"
    ;;
eternal)
    register --restart permanent --max-attempts -1 --intensity 10/1h --backoff 5s..5m -- "$@"
    ;;
slice)
    register --restart transient --max-attempts 1 --soft-timeout "${SOFT:-5m}" \
        --timeout "${HARD:-6m}" -- "$@"
    ;;
*)
    echo "presets.sh: $kind: want mortal, drone, eternal or slice" >&2
    exit 64
    ;;
esac
