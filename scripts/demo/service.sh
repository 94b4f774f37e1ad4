#!/bin/sh
# service.sh: a service of the demo, with a child. It sends heartbeats until it gets TERM.
#
# dpl-orchestrate starts it, with its id in $DPL_SERVICE.
set -u
trap : TERM
dpl-heartbeat --every 0.5s --while-pid $$ &
sleep 600 &
echo $! >"work/$DPL_SERVICE.child"
echo "start $DPL_ATTEMPT: $DPL_REASON"
wait
echo "$DPL_SERVICE" >>work/ended
