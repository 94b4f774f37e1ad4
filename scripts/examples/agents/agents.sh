#!/bin/sh
# agents.sh COMMAND PROJECT [ARG...]: supervise the coding agents of a project, with dpl alone.
#
#	start P [N]                   let its agents work on tickets; have N of them (at first 3)
#	stop P [--host]               begin no other ticket; --host: stop the agents as well
#	serve P                       keep its agents running, until this is stopped
#	status P                      show its agents, its tickets, and what agents ask
#	ticket P ID TEXT [FLAG...]    add a ticket; see dpl-enqueue for the flags
#	tickets P FILE                add all tickets in FILE
#	claim P TICKET PID            give a ticket to process PID, an agent of your own
#	claims P, stats P             show who has which ticket; show numbers, as JSON
#	output P TICKET               show what the last attempt has written
#	history P [FLAG...]           show who did what, and who decided what; see dpl-audit
#	create P AGENT                have one more, or set up one anew
#	delete P AGENT, abort P AGENT, describe P AGENT
#	send P AGENT TEXT             leave an agent a message
#	questions [ID [ANSWER...]]    show what the agents of all projects ask, and answer it
#
# A project is a group of services, the agents, and a queue of tasks, the tickets. Nothing of this
# script has to stay. Instead of serve, a line in a crontab will do:
#
#	* * * * * dpl-orchestrate --group PROJECT --if-exists
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
export DPL_LEDGER="${DPL_LEDGER:-$PWD/ledger}"

# fail TEXT: say what is wrong with the arguments, and exit
fail() {
    echo "agents.sh: $1" >&2
    exit 64
}

# need NAME VALUE...: fail unless each argument, of that NAME, has a VALUE
need() {
    while [ $# -gt 0 ]; do
        [ -n "$2" ] || fail "$command: $1 is missing"
        shift 2
    done
}

# create AGENT: have an agent, which the next pass starts, and a mailbox for it
create() {
    dpl-queue "mail.$1" --create
    # shellcheck disable=SC2016 # the shell of --on-nudge expands it
    dpl-register --group "$project" --service "$1" --request --no-pass --max-attempts -1 \
        --backoff 0,1s,5s,1m --env "AGENT=${AGENT:-$here/agent.sh}" --env "RULES=${RULES-}" \
        --env "SIGNERS=${SIGNERS-}" --env "PERMISSION=${PERMISSION:-5m}" -- \
        dpl-run --queue "$project" --follow --participant "$1" --timeout "${LIMIT:-30m}" \
        --nudge-after "${NUDGE:-2m}" --on-nudge 'echo continue >"$DPL_TMP/stdin"' \
        --silence "${SILENCE:-4m}" -- "$here/worker.sh"
}

agents() { dpl-status --group "$project" --ids 2>/dev/null; }
pass() { dpl-orchestrate --group "$project" --if-exists; }
end() { dpl-shutdown --group "$project" --service "$1" --only --wait; }

command=${1-} project=${2-}
[ "$command" != questions ] || { shift && exec dpl-answer "$@"; }
[ -n "$command" ] || fail 'want a command: see the beginning of this file'
need PROJECT "$project"
shift 2
case $command in
start)
    case ${1-3} in '' | *[!0-9]*) fail "start: $1: want a number of agents" ;; esac
    dpl-status --queue "$project" >/dev/null 2>&1 ||
        dpl-queue "$project" --create --backoff "${BACKOFF:-0,30s,5m}"
    all=$(agents) && count=${1-0} || count=${1-3}
    for agent in $all; do
        dpl-register --group "$project" --service "$agent" --request --no-pass
    done
    i=0
    while [ "$((i += 1))" -le "$count" ]; do
        agents | grep -qxF "$project-$i" || create "$project-$i"
    done
    dpl-queue "$project" --resume --as agents.sh
    pass
    ;;
stop)
    case ${1-} in '' | --host) ;; *) fail "stop: $1: no such flag" ;; esac
    dpl-queue "$project" --halt stopped --as agents.sh
    [ -z "${1-}" ] || dpl-shutdown --group "$project" --all --wait
    ;;
serve) exec dpl-orchestrate --group "$project" --every "${EVERY:-2s}" ;;
status)
    dpl-status --group "$project"
    dpl-status --queue "$project"
    dpl-status --queue ask 2>/dev/null || [ $? = 66 ] # nobody has asked yet
    ;;
ticket)
    need ID "${1-}" TEXT "${2-}"
    id=$1 text=$2
    shift 2
    dpl-enqueue "$project" --no-create --id "$id" --text "$text" "$@"
    ;;
tickets) need FILE "${1-}" && dpl-enqueue "$project" --no-create --file "$1" ;;
claim) need TICKET "${1-}" PID "${2-}" && dpl-claim "$project" --task "$1" --pid "$2" ;;
claims) dpl-status --queue "$project" | sed -n '/^CLAIMED/,/^$/p' ;;
stats) dpl-status --queue "$project" --json ;;
history)
    dpl-audit "$project" "$@"
    dpl-audit ask "$@" 2>/dev/null || [ $? = 66 ]
    ;;
output) need TICKET "${1-}" && dpl-status --queue "$project" --why "$1" ;;
create) need AGENT "${1-}" && create "$1" && pass ;;
abort) need AGENT "${1-}" && end "$1" ;;
delete) need AGENT "${1-}" && end "$1" && dpl-register --group "$project" --service "$1" --remove ;;
describe) need AGENT "${1-}" && dpl-status --group "$project" --why "$1" ;;
send) need AGENT "${1-}" TEXT "${2-}" && dpl-enqueue "mail.$1" --no-create --text "$2" ;;
*) fail "$command: no such command: see the beginning of this file" ;;
esac
