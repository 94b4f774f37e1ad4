# shellcheck shell=sh disable=SC2016,SC2034,SC2154 # the other variables are in demo.sh
# gang.sh: act 6 of demo.sh, which sources this file after groups.sh.
#
# A store, a worker that uses it, and two jobs that end are restarted as a whole. The store is
# killed. A job that is transient runs again then, and one that is temporary does not.

# passes_until STATES: make passes until the services of the group have these states
passes_until() {
    typed 'until dpl-status shows that; do dpl-orchestrate; done'
    until_true 20 "$1" made_pass_to "$1"
    run 0 dpl-status --group gang
    check 'services of gang' "$1" "$(states)"
}

made_pass_to() {
    dpl-orchestrate >passes 2>&1 || die "dpl-orchestrate failed: $(cat passes)"
    [ "$(states)" = "$1" ]
}

act_of_the_gang() {
    export DPL_GROUP=gang
    declare_gang

    step 'A file declares a store, and a worker that cannot go on with another store. Before the' \
        'worker is started, one job makes the tables of the store, and one sends a mail. The' \
        'strategy says that all restart together.'
    typed "export DPL_GROUP=$DPL_GROUP"
    run 0 cat gang.json
    run 0 cat life.sh
    run 0 dpl-register --file gang.json --no-pass -v
    run 0 dpl-orchestrate --staleness 1m

    step 'Both jobs end with status 0: they have completed, and the worker is started.'
    passes_until 'mail:completed store:running tables:completed worker:running'
    until_true 20 'the worker has noted its start' grep -q worker lives
    run 0 sort lives
    check 'the first lives' 'mail: registered
store: registered
tables: registered
worker: registered' "$out"

    step 'The store is killed. A pass does not start another one at once: first the worker must end' \
        'as well. --rounds 1 makes no pass after it.'
    victim=$(registered store pid) worker=$(registered worker pid)
    run 0 kill -KILL "$victim"
    until_true 20 'dpl-status judges store: exited' has_judgement store exited
    : >lives
    run 0 dpl-orchestrate -v --rounds 1
    run 0 dpl-status --group gang
    matches 'the set' '*restart together, because of store: store, tables, worker*' "$out"
    until_true 20 'the worker has ended' is_over "$worker"

    step 'Then all are started in their order. The tables are made again, because that job is' \
        'transient. The mail is temporary: it is not sent again.'
    passes_until 'mail:completed store:running tables:completed worker:running'
    until_true 20 'the worker has noted its start' grep -q worker lives
    run 0 cat lives
    check 'the second lives' 'store: exited
tables: sibling
worker: sibling' "$out"

    step 'Only the store has failed, and only it has used up a restart.'
    run 0 dpl-status --group gang --why worker
    matches 'the reason' '*sibling: store*' "$out"
    check 'restarts of the store' 1 "$(registered store restartAttempts)"
    matches 'restarts of the worker' '' "$(registered worker restartAttempts | grep -v '^0$')"

    run 0 dpl-shutdown --all --wait
    until_true 20 'nothing runs any more' none_started
}

declare_gang() {
    cat >gang.json <<'FILE'
{
  "supervision": {"strategy": "one_for_all"},
  "supervisors": {
    "store": {"startInfo": {"command": "./life.sh", "args": ["sleep", "600"]}},
    "tables": {
      "startInfo": {"command": "./life.sh", "args": ["true"]},
      "dependencies": ["store"],
      "restart": "transient"
    },
    "mail": {
      "startInfo": {"command": "./life.sh", "args": ["true"]},
      "restart": "temporary"
    },
    "worker": {
      "startInfo": {"command": "./life.sh", "args": ["sleep", "600"]},
      "dependencies": ["store"],
      "dependenciesCompleted": ["tables", "mail"]
    }
  }
}
FILE
}
