#!/bin/sh
# worker.sh: give a ticket to the agent $AGENT, a program, whose standard input dpl-run --on-nudge
# can write to. The agent reads $DPL_SPEC, and $DPL_REASON if it was tried before.
set -eu
mkfifo "$DPL_TMP/stdin"
export AGENT_PID=$$
exec "$AGENT" <>"$DPL_TMP/stdin"
