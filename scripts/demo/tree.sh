# shellcheck shell=sh disable=SC2016,SC2034,SC2154 # the other variables are in demo.sh
# tree.sh: act 7 of demo.sh, which sources this file after gang.sh.
#
# A group is a service of another group. A job of the inner group fails too often, so the inner
# group ends. The outer one starts it anew, once; when that fails as well, the outer group ends.

# of GROUP NAME: print the value of a member of the supervision of a group
of() {
    sed -n "/^  \"supervision\": {\$/,/^  }/s/^    \"$2\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}\$/\1/p" \
        "ledger/$1.supervisors.json"
}

# passes_until_value GROUP NAME VALUE: make passes over the tree until the supervision of GROUP has
# that value
passes_until_value() {
    until_true 30 "$2 of $1 is $3" passed_to "$@"
}

passed_to() {
    dpl-orchestrate --group site >passes 2>&1 || die "dpl-orchestrate failed: $(cat passes)"
    [ "$(of "$1" "$2")" = "$3" ]
}

act_of_the_tree() {
    unset DPL_GROUP
    : >lives

    step 'The inner group has a cache, and a job that fails. If it fails twice in a minute, the' \
        'group ends.'
    run 0 dpl-register --group pool --no-pass --request --service job --backoff 0 -- \
        ./life.sh sh -c 'exit 1'
    run 0 dpl-register --group pool --no-pass --request --service cache -- ./life.sh sleep 600
    run 0 dpl-orchestrate --group pool --intensity 1/1m --on-intensity escalate --staleness 1m

    step 'The outer group has the inner one as a service. It stands one failure in an hour.' \
        'From now on, passes over the outer group serve both.'
    run 0 dpl-register --group site --no-pass --request --service front -- ./life.sh sleep 600
    run 0 dpl-register --group site --no-pass --service pool --child-group pool --backoff 0
    run 0 dpl-orchestrate --group site --intensity 1/1h --on-intensity escalate --staleness 1m

    step 'The job fails, and fails again: the inner group ends, with its cache. The outer one' \
        'starts it anew, and the counts of the inner one begin at 0.'
    typed 'until dpl-status shows that; do dpl-orchestrate --group site; done'
    passes_until_value pool generation 2
    run 0 dpl-status --group site
    run 0 dpl-status --group site --why pool
    matches 'the failure' '*running → failed: ended: intensity: *the last of job: exited: status 1*' \
        "$out"

    step 'It does not help: the job fails as before. Now the outer group has had two failures, and' \
        'ends. Whoever reads its status, or its alert, sees the first cause.'
    typed 'until dpl-status shows that; do dpl-orchestrate --group site; done'
    passes_until_value site state ended
    run 0 dpl-status --group site
    matches 'the end' '*ended: intensity: *the last of pool: ended: intensity: *job: exited: status 1*' \
        "$out"
    check 'the inner group' ended "$(of pool state)"
    check 'lives' 'cache 2, front 1, job 4' "$(sed 's/:.*//' lives | sort | uniq -c |
        awk '{ printf "%s%s %d", sep, $2, $1; sep = ", " }')"
    run 0 cat ledger/site.alerts.jsonl
    matches 'the alert' '*"type":"groupEnded"*' "$out"
}
