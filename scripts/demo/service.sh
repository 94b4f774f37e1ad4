#!/bin/sh
# A service of the demo: it sends heartbeats and has a child until it is told to end.
#
# It knows who it is from its environment: a pass of dpl-orchestrate has started it.
set -u
trap : TERM
dpl-heartbeat --every 0.5s --while-pid $$ &
sleep 600 &
echo $! >"work/$DPL_SERVICE.child"
echo "start $DPL_ATTEMPT: $DPL_REASON"
wait
echo "$DPL_SERVICE" >>work/ended
