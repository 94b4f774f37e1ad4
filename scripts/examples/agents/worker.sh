#!/bin/sh
# worker.sh: give a ticket to the agent $AGENT, a program, whose standard input dpl-work --on-nudge
# can write to. The agent reads $DPL_SPEC, and $DPL_REASON if it was tried before.
set -eu
mkfifo "$DPL_TMP/stdin"
export AGENT_PID=$$
[ -z "${DPL_SERVICE-}" ] || # the ticket before may have left it idle
    dpl-heartbeat --group "$DPL_GROUP" --service "$DPL_SERVICE" --readiness ready ||
    : # the agent is being stopped, which does not fail the ticket
exec "$AGENT" <>"$DPL_TMP/stdin"
