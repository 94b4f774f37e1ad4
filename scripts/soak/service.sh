#!/bin/sh
# service.sh LOG [setsid|same]: the service that the passes of inside.sh start.
#
# It sends heartbeats in the background until it gets TERM, and writes to LOG when it starts and
# ends. With an argument it has a child that ignores TERM, with its pid in LOG.child, in a session
# of its own (setsid) or in the service's (same).
echo "$DPL_SERVICE starts: $DPL_REASON, attempt $DPL_ATTEMPT" >>"$1"
trap 'echo "$DPL_SERVICE ends" >>"$1"; exit 0' TERM
dpl-heartbeat --pid $$ --every 1s --while-pid $$ &
# shellcheck disable=SC2016 # the child expands it
child='trap "" TERM; echo $$ >"$1.child"; while :; do sleep 1; done'
case ${2-} in
setsid) setsid -f sh -c "$child" child "$1" ;;
same) sh -c "$child" child "$1" & ;;
esac
while :; do
    sleep 3600 &
    wait $!
done
