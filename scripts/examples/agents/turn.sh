#!/bin/sh
# turn.sh: the hook at the end of an agent's turn. It says that the agent is idle, and gives it its
# next message, if there is one, or comes within $WAIT.
#
# A message is settled at the end of the turn in which the agent had it: one that dies before that
# gets it again. Exit status 2 makes the agent go on, with what is on stderr; so nothing else may
# have that status.
set -e
[ -n "${DPL_PARTICIPANT-}" ] && [ -n "${AGENT_PID-}" ] || exit 0 # it has no ticket
mail=mail.$DPL_PARTICIPANT

if had=$(dpl-claim "$mail" --pid "$AGENT_PID" --mine); then
    dpl-settle "$mail" --task "${had% *}" --epoch "${had#* }" --done
fi

# say READINESS: say it of the ticket, and of the agent itself, for the list of agents
say() {
    dpl-heartbeat --readiness "$1"
    [ -z "${DPL_SERVICE-}" ] ||
        dpl-heartbeat --group "$DPL_GROUP" --service "$DPL_SERVICE" --readiness "$1"
}

say idle
message=$(dpl-claim "$mail" --pid "$AGENT_PID" ${WAIT:+--wait --timeout "$WAIT"} --json) || exit 0
say ready
echo "$message" >&2
exit 2
