#!/bin/sh
# supervisor.sh LOG [setsid|same]: what the passes of inside.sh start. It beats in the background, notes in LOG when it
# starts and ends, and goes on until it gets TERM. It may have a child that ignores TERM, in a session of its own or in
# the same one, with its pid in LOG.child.
echo "$DPL_SUPERVISOR starts: $DPL_REASON, attempt $DPL_ATTEMPT" >>"$1"
trap 'echo "$DPL_SUPERVISOR ends" >>"$1"; exit 0' TERM
dpl-heartbeat --pid $$ --every 1s --while-pid $$ &
# shellcheck disable=SC2016 # it is for the child
child='trap "" TERM; echo $$ >"$1.child"; while :; do sleep 1; done'
case ${2-} in
setsid) setsid -f sh -c "$child" child "$1" ;;
same) sh -c "$child" child "$1" & ;;
esac
while :; do
    sleep 3600 &
    wait $!
done
