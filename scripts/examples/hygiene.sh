#!/bin/sh
# hygiene.sh DIR: sweep up what other work has left behind, once. A timer calls it every five minutes:
#
#   */5 * * * *  DPL_LEDGER=... hygiene.sh /srv/agents
#
# Each sweep is a service of the group hygiene, a job that completes, so none waits for another. One
# that fails is tried again by the passes of the next minutes, and at last raises an alert; one that
# hangs is stopped after 4 minutes. A sweep may be killed at any time, and started again: what it has
# removed stays removed. One that still runs is left alone.
dir=${1:?} && cd "$dir" || exit

# sweep ID COMMAND...: let the next pass run COMMAND
sweep() {
    id=$1
    shift
    dpl-register --group hygiene --request --no-pass --service "$id" --restart transient \
        --max-attempts 3 --backoff 5s..1m --timeout 4m --kill-timeout 30s -- "$@"
}

old="-mindepth 1 -maxdepth 1 -mmin +${MINUTES:-10080}"
sweep dead-agents dpl-cleanup || exit
# shellcheck disable=SC2086 # a list of options
sweep old-changesets find changesets $old -exec rm -rf {} + || exit
# shellcheck disable=SC2016,SC2086 # sh expands it
sweep stale-overlays find overlays $old -exec sh -c \
    'for dir; do dpl-status --ids | grep -qx "${dir##*/}" || rm -rf "$dir"; done' sh {} + || exit
dpl-orchestrate --group hygiene
