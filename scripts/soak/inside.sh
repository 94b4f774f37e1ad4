#!/bin/sh
# inside.sh: check the units in the machine that nspawn.sh boots. It prints a line for each check.
#
# Its parts run at the same time, because they mostly wait for a timer or cron. Each has a group of
# its own.
set -u
export LC_ALL=C
alice=$(id -u alice)
begin=$(cut -d ' ' -f 1 /proc/uptime)
parts=$(mktemp -d)

# check WHAT COMMAND...: check that COMMAND succeeds, and print WHAT
check() {
    what=$1
    shift
    if "$@" >"$said" 2>&1; then
        echo "ok      $(elapsed)  $part: $what"
    else
        # In one write, because other parts print at the same time
        printf '%s\n%s\n' "FAILED  $(elapsed)  $part: $what" \
            "$(echo "$*" | cat - "$said" | sed 's/^/        | /')"
    fi
}

elapsed() { awk -v begin="$begin" '{ printf "%5.1fs", $1 - begin }' /proc/uptime; }

# within SECONDS COMMAND...: run COMMAND until it succeeds, for at most SECONDS
within() {
    deadline=$(($(date +%s) + $1))
    shift
    until polled=$("$@" 2>&1); do
        if [ "$(date +%s)" -ge $deadline ]; then
            echo "$polled"
            return 1
        fi
        sleep 0.2
    done
}

# says WANT COMMAND...: test whether the output of COMMAND is WANT
says() {
    want=$1
    shift
    got=$("$@" 2>&1)
    [ "$got" = "$want" ] || {
        printf 'want: %s\ngot:  %s\n' "$want" "$got"
        return 1
    }
}

# shows TEXT COMMAND...: test whether the output of COMMAND contains TEXT
shows() {
    text=$1
    shift
    "$@" >"$said.shown" 2>&1
    grep -F "$text" "$said.shown" || { cat "$said.shown"; return 1; }
}

fails() { ! "$@"; }
alive() { [ -n "$1" ] && [ "$1" != 0 ] && kill -0 "$1"; }
differ() { [ "$1" != "$2" ]; }
session() { ps -o sid= -p "$1" | tr -d ' '; }
log() { cat "$log"; }

# own [root|alice] COMMAND...: run COMMAND as a user who has logged in, not in a unit
own() {
    user=$1
    shift
    case $user in
    root) env -u INVOCATION_ID "$@" ;;
    alice)
        runuser -u alice -- env -u INVOCATION_ID -u DPL_LEDGER \
            HOME=/home/alice XDG_RUNTIME_DIR="/run/user/$alice" "$@"
        ;;
    esac
}

# as PART MANAGER: begin PART, as root with the manager of the system, or as alice with her own
as() {
    part=$1 said=$parts/$1
    case $2 in
    user) who=alice option=--user ledger=/home/alice/.local/state/dpl ;;
    system) who=root option=--system ledger=/var/lib/dpl ;;
    esac
    if [ "$who" = root ]; then
        export DPL_LEDGER="$ledger"
    fi
}

ctl() { own "$who" systemctl "$option" "$@"; }
dpl() { own "$who" "$@"; }
result() { ctl show --property=Result --value "$1"; }

# units ID: print the transient units of a service
units() { ctl list-units --all --plain --no-legend "dpl-$group-$1-*" | cut -d ' ' -f 1; }

# main_pid ID: print the pid of the main process of the only transient unit of a service
main_pid() {
    for unit in $(units "$1"); do
        ctl show --property=MainPID --value "$unit"
    done | grep -v '^0$'
}

# service_pid ID: print the pid that the ledger has for a service
service_pid() {
    dpl dpl-status --group "$group" --service "$1" --json |
        sed -n 's/^ *"pid": \([0-9]*\),\{0,1\}$/\1/p' | head -n 1
}
parent() { ps -o ppid= -p "$1" | tr -d ' '; }
state() { dpl dpl-status --group "$group" --service "$1" --check "$2"; }

# recorded_pid: print the pid of the only service of the group
recorded_pid() {
    sed -n 's/^ *"pid": \([0-9]*\),$/\1/p' "$ledger/$group.supervisors.json" | head -n 1
}

# register ID [FLAG...]: register a service for passes to start
register() {
    id=$1
    shift
    dpl dpl-register --group "$group" --service "$id" --request --no-pass "$@" -- \
        service.sh "$log" "${how-}"
}

# life: two services, the second depending on the first, under the shipped timer
life() {
    as "$1" "$1"
    group=web log=/tmp/$1.log
    timer=dpl-orchestrate@web.timer service=dpl-orchestrate@web.service

    check 'the timer can be enabled while there is no ledger' ctl enable --now "$timer"
    check 'then its passes succeed' within 5 says success result "$service"
    check 'web, which depends on db, is registered' register web --depends-on db
    check 'db is registered' register db
    check 'the passes of the timer start both, db first' \
        within 30 says 'db starts: registered, attempt 0
web starts: registered, attempt 0' log
    db=$(units db) web=$(units web)
    check "db is the transient unit $db" ctl is-active "$db"
    check "web is the transient unit $web" ctl is-active "$web"
    check 'systemctl status shows it' shows 'active (running)' ctl status --no-pager 'dpl-web-db-*'
    was=$(service_pid db)
    check 'its keeper is the main process of the unit' says "$(parent "$was")" main_pid db
    check 'which leads a session' says "$was" session "$was"
    check 'and is not in the sandbox of the pass' \
        says "$(readlink /proc/1/ns/mnt)" readlink "/proc/$was/ns/mnt"
    check 'the pass that started it has ended' within 5 says inactive ctl is-active "$service"
    check 'and db is alive' alive "$was"
    check 'db is running' within 12 state db running
    check 'web is running' within 12 state web running

    kill -KILL "$was"
    check 'db is killed, and a later pass starts it again' \
        within 30 says 'db starts: registered, attempt 0
web starts: registered, attempt 0
db starts: exited, attempt 1' log
    check 'how it ended is known' \
        shows 'exited: signal 9' cat "$ledger/web.alerts.jsonl"
    now=$(service_pid db)
    check 'as another process' differ "$was" "$now"
    check 'which is alive' alive "$now"
    check 'in a unit of its own' differ "$db" "$(units db)"
    check 'the old one is gone' fails ctl is-active "$db"
    check 'db is running again' within 12 state db running
    check 'web kept running' state web running

    check 'db, and web with it, is asked to stop' dpl dpl-shutdown --group web --service db
    check 'the passes of the timer stop both, web first' within 60 says 'web ends
db ends' tail -n 2 "$log"
    check 'db is stopped' within 25 state db stopped
    check 'web is stopped' state web stopped
    check 'no unit of theirs is left' within 5 says '' units '*'
    check 'the timer is disabled' ctl disable --now "$timer"
    check 'the passes left no line in the journal' \
        says '-- No entries --' dpl journalctl "$option" --no-pager -u "$service"
}

# again: restart a service right after its death, while systemd may still be busy with its unit
again() {
    as "again-$1" "$1"
    group=again log=/tmp/again-$1.log
    check 'a service is registered' register a --backoff 0 --max-attempts 1000
    check 'a pass starts it in a unit' pass
    check 'and it runs' within 5 test -s "$log"
    for round in $(seq 30); do
        was=$(service_pid a)
        if alive "$was"; then
            kill -KILL "$was"
        fi
        within 5 another "$was" || echo "round $round"
    done >"$parts/rounds-$1" 2>&1
    check 'it is killed 30 times, and passes start it again' says '' cat "$parts/rounds-$1"
    check 'once each time' says 31 grep -c starts "$log"
    check 'no start failed' fails grep startFailed "$ledger/again.alerts.jsonl"
    check 'it is shut down' dpl dpl-shutdown --wait --group again --service a
    check 'its units are gone' within 5 says '' units a
}
pass() { dpl dpl-orchestrate --spawn systemd-run --group "$group"; }

# another PID: make a pass, and test whether service a then has another process
another() {
    pass
    now=$(service_pid a)
    alive "$now" && differ "$now" "$1" && within 5 grep -q "attempt $round$" "$log"
}

# at_once: kill a service whose keeper makes a pass at each end, which takes the place of the main
# process of its unit; no other pass is made
at_once() {
    as "at-once-$1" "$1"
    group=once log=/tmp/at-once-$1.log
    check 'a service is registered' register a --backoff 0 --max-attempts 1000 --kill-timeout 1s
    check 'a pass starts it in a unit, and others are to follow' \
        dpl dpl-orchestrate --spawn systemd-run --group "$group" --on-exit pass
    check 'and it runs' within 5 test -s "$log"
    for round in $(seq 10); do
        was=$(service_pid a)
        if alive "$was"; then
            kill -KILL "$was"
        fi
        within 5 replaced "$was" || echo "round $round"
    done >"$parts/at-once-$1" 2>&1
    check 'it is killed 10 times, and each keeper starts it again' says '' cat "$parts/at-once-$1"
    check 'once each time' says 11 grep -c starts "$log"
    check 'each end is known' says 10 \
        grep -c '"supervisorFailed".*exited: signal 9' "$ledger/once.alerts.jsonl"
    check 'no start failed' fails grep startFailed "$ledger/once.alerts.jsonl"
    check 'one unit is left' within 5 says 1 count units a
    now=$(service_pid a)
    check 'its main process is the last keeper' says "$(parent "$now")" main_pid a
    check 'which is in the unit of no other' shows "$(units a)" cat "/proc/$now/cgroup"
    check 'it is shut down' dpl dpl-shutdown --wait --group once --service a
    check 'its unit is gone' within 5 says '' units a
    check 'no record is left' says '' find "$ledger/exits/once" -type f
}
count() { "$@" | wc -l; }

# replaced PID: test whether service a has another process, which has begun
replaced() {
    now=$(service_pid a)
    alive "$now" && differ "$now" "$1" && grep -q "attempt $round$" "$log"
}

# stubborn: kill a service whose child, in its session (same) or in another one (setsid), survives
stubborn() {
    as "stubborn-$1" system
    group=stubborn.$1 log=/tmp/stubborn-$1.log how=$1
    check 'a service is registered' register a --backoff 0 --kill-timeout 1s
    check 'a pass starts it in a unit' pass
    check 'with a child that ignores TERM' within 5 test -s "$log.child"
    child=$(cat "$log.child")
    was=$(service_pid a)
    if alive "$was"; then
        kill -KILL "$was"
    fi
    check 'it is killed, and its child is not' alive "$child"
    check 'passes start it again' within 15 started_again
    check 'its old child is killed' within 5 fails alive "$child"
    check 'it runs' state a running
    check 'it is shut down' dpl dpl-shutdown --wait --group "$group" --service a
    check 'its units are gone' within 5 says '' units a
    check 'and so is its new child' fails alive "$(cat "$log.child")"
}
started_again() {
    pass
    [ "$(grep -c starts "$log")" = 2 ]
}

# control: start services outside units of their own, to show that the checks above can fail
control() {
    as control system
    group=control log=/tmp/control.log
    for mode in control-group mixed process; do
        cat >"/run/systemd/system/control-$mode.service" <<UNIT
[Service]
Type=oneshot
Environment=DPL_LEDGER="$ledger"
KillMode=$mode
ExecStart=/usr/local/bin/dpl-orchestrate --group control --spawn direct
UNIT
    done
    ctl daemon-reload
    check 'a service is registered' register a --backoff 0
    for mode in control-group mixed process; do
        check "a unit with KillMode=$mode starts it in itself" ctl start control-$mode
        pid=$(recorded_pid)
        check 'the ledger has its process' test -n "$pid"
        if [ $mode = process ]; then
            check 'the end of the unit spares it' within 5 test -s $log
            check 'and it is alive' alive "$pid"
            check 'dpl-shutdown stops it' dpl dpl-shutdown --wait --group control --service a
        else
            check 'the end of the unit kills it' within 5 fails alive "$pid"
            : >$log
        fi
    done
}

# instead: run the system's unit as another user, with the drop-in that its comment suggests
instead() {
    as instead system
    ledger=/var/lib/dpl-alice
    export DPL_LEDGER="$ledger"
    group=instead log=/tmp/instead.log
    mkdir -p /run/systemd/system/dpl-orchestrate@instead.service.d
    sed -n 's/^#   \(\[Service\]\|[A-Za-z]*=.*\)$/\1/p' \
        /etc/systemd/system/dpl-orchestrate@.service | sed 's/USER/alice/' \
        >/run/systemd/system/dpl-orchestrate@instead.service.d/override.conf
    ctl daemon-reload
    check 'the unit runs as alice' ctl start dpl-orchestrate@instead
    check 'its ledger is owned by alice' says alice stat -c %U $ledger
    check 'a service is registered by alice' own alice env DPL_LEDGER=$ledger \
        dpl-register --group instead --service a --request --no-pass -- service.sh $log
    check 'the timer is started' ctl start dpl-orchestrate@instead.timer
    check 'the service is started' within 15 test -s $log
    pid=$(recorded_pid)
    check 'as alice' says alice ps -o user= -p "$pid"
    check 'another pass is made' within 15 \
        shows 'Found left-over process' journalctl --no-pager -u dpl-orchestrate@instead
    check 'and the service is alive' alive "$pid"
    check 'it was started once' says 1 grep -c starts $log
    check 'it is shut down' own alice env DPL_LEDGER=$ledger \
        dpl-shutdown --wait --group instead --service a
    ctl stop dpl-orchestrate@instead.timer
}

# tree: the shipped timer serves two groups, one a service of the other
tree() {
    as tree system
    group=inner log=/tmp/tree.log
    check 'a group is a service of another' \
        dpl dpl-register --group tree --child-group inner --service inside --no-pass
    check 'which has a limit, and a service' register a --backoff 0
    check 'passes are made by hand' dpl dpl-orchestrate --group tree
    check 'the inner group may fail once a minute' dpl dpl-orchestrate --group inner \
        --intensity 1/1m --on-intensity escalate
    check 'the timer of the outer group is started' ctl start dpl-orchestrate@tree.timer
    for generation in 1 2; do
        for round in 1 2; do
            check "generation $generation runs" within 30 says "$((2 * generation + round - 2))" \
                grep -c starts $log
            kill -KILL "$(service_pid a)"
        done
    done
    check 'what fails twice is begun anew by the outer group' within 30 says 5 grep -c starts $log
    check 'and this is told' shows groupEnded cat "$ledger/inner.alerts.jsonl"
    check 'the whole tree is shut down' dpl dpl-shutdown --group tree --all
    check 'by the timer' within 60 dpl dpl-status --group inner --service a --check stopped
    check 'no unit of it is left' within 5 says '' units a
    ctl stop dpl-orchestrate@tree.timer
}

# cleanup: the timer of dpl-cleanup
cleanup() {
    as cleanup system
    sleep 1000 &
    check 'a call is pushed' dpl dpl-push --op build --call cc --participant cc --pid $!
    kill -KILL $!
    check 'its process is killed; the timer is started' ctl start dpl-cleanup.timer
    check 'a cleanup finds it' within 50 dpl-status --op build --check cleanup
    check 'and succeeds' within 5 says success result dpl-cleanup.service
}

# by_cron: the shipped crontab, under the cron that systemd runs
by_cron() {
    as cron system
    ledger=/tmp/cron/ledger
    export DPL_LEDGER="$ledger"
    group=main log=/tmp/cron/log
    own alice mkdir -p /tmp/cron
    check 'a service is registered' own alice env DPL_LEDGER=$ledger \
        dpl-register --group main --service a --request --no-pass -- service.sh $log
    { echo "DPL_LEDGER=$ledger"; cat /usr/local/share/crontab; } | crontab -u alice -
    check 'so is one of a group below' own alice env DPL_LEDGER=$ledger \
        dpl-register --group below --service b --request --no-pass -- service.sh $log.below
    check 'which is a service of the group' own alice env DPL_LEDGER=$ledger \
        dpl-register --group main --child-group below --service inside --no-pass
    check 'cron starts it' within 75 test -s $log
    check 'and the one below' within 5 test -s $log.below
    check 'in no unit of its own' says '' units a
    pid=$(recorded_pid)
    check 'cron is restarted' ctl restart cron
    check 'it survives that' alive "$pid"
    check 'it is shut down' own alice env DPL_LEDGER=$ledger \
        dpl-shutdown --wait --group main --all
    check 'the one below has stopped with it' grep -q ends $log.below
}

# lua: build-lua.sh, by nothing but its crontab, with a broken source and a compiler that hangs
lua() {
    as lua system
    dir=/tmp/lua src=/tmp/lua/lua5.4/src
    export DPL_LEDGER="$dir/ledger"
    mkdir "$dir"
    cp -r /usr/local/src/lua5.4 "$dir"
    mv $src/ltm.c $src/ltm.good
    echo '#error poison' >$src/ltm.c
    cat >$dir/cc <<'CC'
#!/bin/sh
if [ "$DPL_TASK" = cc:lcode ] && mkdir /tmp/lua/hangs 2>/dev/null; then
    exec sleep 1000
fi
exec /usr/bin/cc "$@"
CC
    chmod +x $dir/cc
    check 'its tasks are added' build-lua.sh $dir/lua5.4
    tasks=$(wc -l <"$said")
    { echo "DPL_LEDGER=$DPL_LEDGER" && sed -n "s|^#\tPATH=|PATH=$dir:|p; s|^#\t\(\* .*\)|\1|p" \
        /usr/local/bin/build-lua.sh; } | crontab -
    check 'cron compiles, until a compiler hangs' within 75 test -e $dir/hangs
    check 'and all is compiled but that and a broken source' \
        within 60 shows "\"done\": $((tasks - 6))" ends
    check 'which was tried thrice' shows 'cc:ltm is dead' dpl-status --queue lua --why cc:ltm
    attempt=$(dpl-status --queue lua --json |
        sed -n '/"claim": {/,/"process"/s/^ *"pid": \([0-9]*\),$/\1/p' | head -n 1)
    worker=$(ps -o pgid= -p "$(parent "$attempt")" | tr -d ' ')
    check 'the worker and the attempt are killed' kill -KILL "-$worker" "-$attempt"
    mv $src/ltm.good $src/ltm.c
    check 'the source is repaired' dpl-enqueue lua --dead
    check 'and cron builds the rest' dpl-wait --queue lua --task test --timeout 75s
    check 'it runs' says 'Lua 5.4' $src/lua -e 'print(_VERSION)'
    check 'each task is done once' shows "\"done\": $tasks, \"failed\": 3, \"crashed\": 1 }" ends
    check 'cron had nothing to mail' fails shows discarding journalctl --no-pager -u cron
    crontab -r
}
# ends: print in a line how the attempts have ended
ends() { dpl-status --queue lua --json | sed -n '/"ends": {/,/}/p' | tr -s ' \n' ' '; }

echo "soak: $(systemctl --version | head -n 1), Linux $(uname -r), $(systemd-detect-virt)"
# systemd-nspawn mounts a boot id of its own over the kernel's. Units with ProtectKernelTunables=yes get
# the kernel's nevertheless, and would take the machine for another one.
umount /proc/sys/kernel/random/boot_id
loginctl enable-linger alice
part=alice said=$parts/alice
check 'alice has a manager of her own, without a login' \
    within 10 test -S "/run/user/$alice/systemd/private"
life system &
life user &
again system &
again user &
at_once system &
at_once user &
stubborn setsid &
stubborn same &
tree &
control &
instead &
cleanup &
by_cron &
lua &
wait
