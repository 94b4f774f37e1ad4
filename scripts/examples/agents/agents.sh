#!/bin/sh
# agents.sh COMMAND PROJECT [ID [TEXT]]: supervise the coding agents of a project, with dpl alone.
# A project is a group of services, its agents, and a queue of tasks, its tickets. Nothing of this
# script has to stay: instead of serve, a line in a crontab will do. See spec/agents.md.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
export DPL_LEDGER="${DPL_LEDGER:-$PWD/ledger}"
command=${1-} project=${2-} id=${3-} text=${4-}

fail() { echo "agents.sh: $command: $1" >&2 && exit 64; }
need() { [ -n "$text" ] || fail 'TEXT is missing'; }
agents() { dpl-status --group "$project" --ids 2>/dev/null; }
pass() { dpl-orchestrate --group "$project" --if-exists; }
end() { dpl-shutdown --group "$project" --service "$id" --only --wait; }
asked() { "$@" --queue ask 2>/dev/null || [ $? = 66 ]; } # nobody may have asked yet

# have AGENT: an agent, which the next pass starts, and a mailbox for it
have() {
    dpl-queue "mail.$1" --create
    # shellcheck disable=SC2016 # the shell of --on-nudge expands it
    dpl-register --group "$project" --service "$1" --request --no-pass --max-attempts -1 \
        --backoff 0,1s,5s,1m --env "AGENT=${AGENT:-$here/agent.sh}" --env "RULES=${RULES-}" \
        --env "SIGNERS=${SIGNERS-}" --env "PERMISSION=${PERMISSION:-5m}" -- \
        dpl-work "$project" --follow --participant "$1" --timeout "${LIMIT:-30m}" \
        --nudge-after "${NUDGE:-2m}" --on-nudge 'echo continue >"$DPL_TMP/stdin"' \
        --silence "${SILENCE:-4m}" -- "$here/worker.sh"
}

[ $# -gt 1 ] || [ "$command" = questions ] || fail 'want a project: agents.sh COMMAND PROJECT'
case $command in
start) # have N agents, at first 3, and let all work
    case ${3-0} in '' | *[!0-9]*) fail "$id: want a number of agents" ;; esac
    dpl-status --queue "$project" >/dev/null 2>&1 ||
        dpl-queue "$project" --create --backoff "${BACKOFF:-0,30s,5m}"
    all=$(agents) || id=${3-3}
    for a in $all; do dpl-register --group "$project" --service "$a" --request --no-pass; done
    for i in $(seq "${id:-0}"); do agents | grep -qxF "$project-$i" || have "$project-$i"; done
    dpl-queue "$project" --resume --as agents.sh && pass ;;
stop) # begin no other ticket; --host: stop the agents as well
    [ "${id:---host}" = --host ] || fail "$id: no such flag"
    dpl-queue "$project" --halt stopped --as agents.sh
    [ -z "$id" ] || dpl-shutdown --group "$project" --all --wait ;;
serve) exec dpl-orchestrate --group "$project" --every "${EVERY:-2s}" ;;
status) # the agents, their tickets, and what they ask
    dpl-status --group "$project" && dpl-status --queue "$project" && asked dpl-status ;;
ticket) need && shift 4 && dpl-enqueue "$project" --no-create --id "$id" --text "$text" "$@" ;;
tickets) dpl-enqueue "$project" --no-create --file "$id" ;;
claim) dpl-claim "$project" --task "$id" --pid "$text" ;; # a ticket, for a process of your own
claims) dpl-status --queue "$project" | sed -n '/^CLAIMED/,/^$/p' ;;
stats) dpl-status --queue "$project" --json ;;
history) shift 2 && dpl-audit "$project" "$@" && asked dpl-audit "$@" ;;
output) dpl-status --queue "$project" --why "$id" ;; # of a ticket
create) have "$id" && pass ;;
abort) end ;;
delete) end && dpl-register --group "$project" --service "$id" --remove ;;
describe) dpl-status --group "$project" --why "$id" ;;
send) need && dpl-enqueue "mail.$id" --no-create --text "$text" ;; # for an agent, after its turn
questions) shift && dpl-answer "$@" ;; # of all projects; with ID and --allow or --deny, answer one
*) fail 'no such command' ;;
esac
