# shellcheck shell=sh disable=SC2016,SC2034,SC2154 # the other variables are in demo.sh
# groups.sh: act 5 of demo.sh, which sources this file.
#
# A group keeps a database running, and a web server that depends on it. The database is killed. A
# third service ends each time it is started.

# states: print all services and their states, sorted, "db:running web:running"
states() {
    dpl-status --group "$DPL_GROUP" 2>/dev/null | awk '
        $1 == "SERVICE" { table = 1; next }
        /^$/ { table = 0 }
        { sub(/^[^A-Za-z0-9]*/, "") }
        table { print $1 ":" $2 }' | sort | tr '\n' ' ' | sed 's/ $//'
}

# judgement ID: print the verdict of dpl-status on a service
judgement() {
    dpl-status --group "$DPL_GROUP" --service "$1" | awk -v id="$1" '$1 == id { print $8 }'
}

# registered ID NAME: print the value of a member of a service that has a line of its own
registered() {
    value="\"\{0,1\}\([^\",]*\)\"\{0,1\}"
    sed -n "/^    \"$1\": {\$/,/^    }/s/^      \"$2\": $value,\{0,1\}\$/\1/p" \
        "ledger/$DPL_GROUP.supervisors.json"
}

# survey STATES: show the group, and check the states of its services
survey() {
    run 0 dpl-status --group shop
    matches 'first line of dpl-status' 'shop: orchestrator running, last pass * ago by *' \
        "$(sed 1q out)"
    check 'services of shop' "$1" "$(states)"
}

# orchestrate ALERTS: make a pass, and check its alerts
orchestrate() {
    typed 'dpl-orchestrate --on-alert "$alert"'
    want=0
    dpl-orchestrate --on-alert "$alert" >out 2>&1
    ended $? dpl-orchestrate
    check 'alerts of this pass' "$1" "$out"
}

# alert TYPE ID MESSAGE: print an alert as the command $alert does
alert() { printf '"type":"supervisor%s","supervisorId":"%s","message":"%s"\n' "$@"; }

has_heartbeat() { [ "$(registered "$1" lastHeartbeat)" != "$(registered "$1" startedAt)" ]; }
is_in_log() { grep -qxF "$2" "ledger/logs/shop/$1.log" 2>/dev/null; }
has_judgement() { [ "$(judgement "$1")" = "$2" ]; }

# is_over PID: test whether all threads of a process have ended, even if it is a zombie
is_over() {
    read -r stat 2>/dev/null <"/proc/$1/stat" || return 0
    # shellcheck disable=SC2086
    set -- ${stat##*) } # from field 3 of proc_pid_stat(5) on; 20 is the number of threads
    case $1,${18} in [ZX],[01]) return 0 ;; esac
    return 1
}

# started [ID]: print the pids of all processes that passes have started, and of their children;
# with ID, only those of one service
started() { owned "DPL_SERVICE=${1-}"; }

none_started() { [ -z "$(started "$@")" ]; }

# is_dead ID: make a pass, append its alerts to the file out, and test whether a service is dead
is_dead() {
    dpl-orchestrate --on-alert "$alert" >>out 2>&1 || die 'dpl-orchestrate failed'
    dpl-status --group shop --service "$1" --check dead
}

act_of_the_services() {
    rm -f go work/*
    unset DPL_OP

    step 'A web server is registered in the group shop. Passes must start it (--request), but' \
        'only once a database runs. No passes are made over this group yet, so dpl-register makes' \
        'the first one. The group has no database.'
    export DPL_GROUP=shop
    typed "export DPL_GROUP=$DPL_GROUP"
    run 0 cat service.sh
    run 0 dpl-register --request --service web --depends-on db -- ./service.sh
    survey 'web:waitingForDependencies'
    matches 'note' '*blocked by db: missing*' "$out"

    step 'Each pass gives the new alerts to a command, here one that prints their middle columns.' \
        '--staleness allows a minute without heartbeats; the demo does not wait that long.'
    alert='cut -d, -f3-5 | tee -a given'
    typed "alert='$alert'"
    run 0 dpl-orchestrate --staleness 1m
    orchestrate ''
    survey 'web:waitingForDependencies'
    run 0 cut -d, -f3-5 ledger/shop.alerts.jsonl
    matches 'alerts' "$(alert Blocked web 'db: missing')
\"type\":\"groupBlocked\",\"message\":\"web: db: missing\",*" "$out"
    unheard=$out

    step 'The database is registered. Usually a timer or cron makes the passes; here they are' \
        'typed. One command starts the database and, once that runs, the web server.'
    run 0 dpl-register --request --service db -- ./service.sh
    survey 'db:registered web:waitingForDependencies'
    orchestrate ''
    until_true 20 'the database sends a heartbeat' has_heartbeat db
    until_true 20 'the database says so' is_in_log db 'start 0: registered'
    survey 'db:running web:running'
    until_true 20 'the web server sends a heartbeat' has_heartbeat web
    until_true 20 'the web server says so' is_in_log web 'start 0: registered'

    act_of_the_killed_service
    act_of_the_hopeless_service
    act_of_the_shutdown
}

act_of_the_killed_service() {
    step 'The database is killed. One of its children survives.'
    victim=$(registered db pid) bystander=$(registered web pid) child=$(cat work/db.child)
    run 0 kill -KILL "$victim"
    until_true 20 'dpl-status judges db: exited' has_judgement db exited
    check 'the child has ended' no "$(is_over "$child" && echo yes || echo no)"

    step 'The next pass finds that out. It does not start a second database while a process of' \
        'the first is left, but tells that process to end.'
    orchestrate "$(alert Failed db 'exited: signal 9: processes of it are left')"
    survey 'db:failed web:running'
    until_true 20 'the child has ended' is_over "$child"
    until_true 20 'the process that sends its heartbeats has ended' none_started db

    step 'The pass after that restarts the database. The web server kept running.'
    orchestrate "$(alert Restarted db 'attempt 1: exited: signal 9: processes of it are left')"
    survey 'db:running web:running'
    until_true 20 'the database says so' is_in_log db 'start 1: exited'
    run 0 cat ledger/logs/shop/db.log
    check 'the output of both databases' 'start 0: registered
start 1: exited' "$out"
    [ "$(registered db pid)" != "$victim" ] || die 'the database has the process that was killed'
    check 'process of the web server' "$bystander" "$(registered web pid)"
    check 'the web server has ended' no "$(is_over "$bystander" && echo yes || echo no)"
    orchestrate ''
}

act_of_the_hopeless_service() {
    step 'A third service ends each time it is started. It is restarted at once, then after 0.1' \
        'seconds each time, and is dead after three restarts.'
    run 0 dpl-register --request --service bad --backoff 0,0.1s --max-attempts 3 -- \
        printenv DPL_ATTEMPT DPL_REASON
    typed 'until dpl-status --group shop --service bad --check dead;' \
        'do dpl-orchestrate --on-alert "$alert"; done'
    : >out
    until_true 20 'it is declared dead' is_dead bad
    want=0
    ended 0 dpl-orchestrate
    check 'alerts in the file' "$(
        for attempt in 1 2 3; do
            alert Failed bad 'exited: status 0'
            alert Restarted bad "attempt $attempt: exited: status 0"
        done
        alert Failed bad 'exited: status 0'
        alert Dead bad '3 attempts: exited: status 0'
    )" "$(grep '"bad"' ledger/shop.alerts.jsonl | cut -d, -f3-5)"
    run 0 cat ledger/logs/shop/bad.log
    check 'its output' "$(printf '%s\n' 0 registered 1 exited 2 exited 3 exited)" "$out"
    orchestrate ''
    survey 'bad:dead db:running web:running'
}

act_of_the_shutdown() {
    step 'The database is stopped, after the web server, which depends on it.'
    gone work/ended
    run 0 dpl-shutdown --service db --wait
    check 'what dpl-shutdown prints' 'dpl-shutdown: shop: also stops web, which depends on db' "$out"
    survey 'bad:dead db:stopped web:stopped'
    run 0 cat work/ended
    check 'the services that ended, in order' 'web
db' "$out"
    until_true 20 'nothing runs any more' none_started

    step 'No pass starts a service that was stopped or is dead. Every alert was written once, and' \
        'given once, except for crashes: where the same pass restarted the service, only that was.'
    orchestrate ''
    survey 'bad:dead db:stopped web:stopped'
    check 'processes that run' '' "$(started)"
    check 'alerts in the file, and those given, without crashes' \
        "$(cut -d, -f3-5 ledger/shop.alerts.jsonl | grep -v Failed)" \
        "$( (printf '%s\n' "$unheard" && cat given) | grep -v Failed)"
    check 'alerts' 12 "$(wc -l <ledger/shop.alerts.jsonl | tr -d ' ')"
}
