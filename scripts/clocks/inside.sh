#!/bin/sh
# inside.sh: the init of the machine that uml.sh boots.
#
# It prints a line for each check, prefixed with "clocks| ".
set -u
export PATH="$CLOCKS_BIN:/usr/sbin:/usr/bin:/sbin:/bin" LC_ALL=C TZ=UTC
export DPL_LEDGER=/mnt/ledger DPL_SYNC=none

threshold=5
patient=30  # the threshold of participants that live: the whole machine may stall for seconds
waits=60    # for how long tasks wait: longer than it takes to set the clock four times
sampled=0.2 # seconds between two polls

say() { echo "clocks| $*"; }

# ok WHAT COMMAND...: check that COMMAND succeeds, and print WHAT
ok() {
    what=$1
    shift
    if said=$("$@" 2>&1); then
        say "ok      $what"
    else
        say "FAILED  $what: $*"
        echo "$said" | sed 's/^/clocks|         | /'
        failed=yes
    fi
}

now() { cut -d ' ' -f 1 /proc/uptime; }
since() { awk -v begin="$1" '{ printf "%.1f", $1 - begin }' /proc/uptime; }
less() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a < b) }'; }

# frame OP CALL MEMBER: print a member of a frame, or "" if the frame does not have it
frame() {
    awk -v call="\"$2\"," -v member="\"$3\":" '
        /"supervisorHeartbeats"/ { exit }
        $1 == "\"callId\":" { mine = $2 == call }
        mine && $1 == member { gsub(/[",]/, "", $2); print $2 }' "$DPL_LEDGER/operations/$1.json"
}

# is WANT OP CALL: test whether the evidence of a call, or its state if it has none, is WANT
is() {
    got=$(frame "$2" "$3" evidence)
    got=${got:-$(frame "$2" "$3" state)}
    [ "$got" = "$1" ] || {
        echo "$3 is $got, not $1"
        return 1
    }
}

operation=$DPL_LEDGER/operations/live.json
group=$DPL_LEDGER/g.supervisors.json

# deaths: print what the files say about deaths
deaths() { grep -HE '"(evidence|staleForMs|previousState|lastExit|reason)"' "$operation" "$group"; }

# all_alive: test that no call of operation live and no service of group g was ever declared dead
all_alive() {
    dead='crashed|cleanedUp|dead|failed|restartScheduled|stopped|exited|stale|rebooted'
    [ -s "$operation" ] && [ -s "$group" ] && ! grep -E "\"($dead)\"" "$operation" "$group" &&
        ! grep -E '"restartAttempts": [^0]' "$group" && [ ! -s "$DPL_LEDGER/g.alerts.jsonl" ]
}

revision() { sed -n 's/^  "revision": \([0-9]*\),$/\1/p' "$DPL_LEDGER/operations/$1.json"; }

# within SECONDS COMMAND...: run COMMAND until it succeeds, for at most SECONDS
within() {
    deadline=$(since -"$1")
    shift
    until polled=$("$@" 2>&1); do
        less "$(now)" "$deadline" || {
            echo "$polled"
            return 1
        }
        sleep $sampled
    done
}

# heartbeats ARGS...: send heartbeats in the background, from a process of their own
heartbeats() { dpl-heartbeat --every 0.5 "$@" 2>/dev/null & }

# participants OP [THRESHOLD]: push three calls, all with heartbeats: main; known, which has the
# process $known; and silent, which has no process, and whose heartbeats $silent sends
participants() {
    dpl-push --op "$1" --participant cli --call main --staleness "${2:-$threshold}" --interval 0.5 \
        >/dev/null
    heartbeats --op "$1" --call main
    sleep 1000 &
    known=$!
    dpl-push --op "$1" --participant known --call known --pid $known >/dev/null
    heartbeats --op "$1" --call known --while-pid $known
    dpl-push --op "$1" --participant silent --call silent >/dev/null
    heartbeats --op "$1" --call silent
    silent=$!
}

# task QUEUE TASK: print the line of a task
task() { grep "\"taskId\": \"$2\"" "$DPL_LEDGER/queues/$1.json"; }

# ended QUEUE TASK END: test whether the last attempt at a task has ended so
ended() {
    task "$1" "$2" | grep "\"lastEnd\": \"$3\"" || {
        task "$1" "$2"
        return 1
    }
}

# claimer QUEUE: start a process, $claimer, that has claimed task alone of a new queue
claimer() {
    dpl-queue "$1" --create --backoff 0
    dpl-enqueue "$1" --id run -- sleep 1000 >/dev/null
    dpl-enqueue "$1" --id alone -- true >/dev/null
    sleep 1000 &
    claimer=$!
    dpl-claim "$1" --pid $claimer --task alone >/dev/null
}

# workers QUEUE: start a claimer, and dpl-work, which does task run
workers() {
    claimer "$1"
    dpl-work "$1" --once &
}

# claimed: test that the claims of queue live stand
claimed() {
    for task in alone run; do
        task live $task | grep '"state": "claimed"' | grep '"attempts": 1' || {
            task live $task
            return 1
        }
    done
}

# waiting: add tasks to queue live that wait: one that is delayed, one that expires, and one whose claim
# has a deadline
waiting() {
    queued=$(now)
    dpl-enqueue live --id delayed --delay $waits -- true >/dev/null
    dpl-enqueue live --id expiring --delay 1h --expires $waits -- true >/dev/null
    dpl-enqueue live --id limited -- true >/dev/null
    dpl-claim live --pid $$ --task limited --deadline $waits >/dev/null
}

# still: test that these tasks wait, unless it is nearly time
still() {
    less "$(since "$queued")" $((waits - 10)) || return 0
    dpl-queue live --permits all
    task live expiring | grep '"expiry"' && task live limited | grep '"state": "claimed"' &&
        task live delayed | grep -v '"state"' && fails dpl-claim live --pid 1 --task delayed
}

# due: test that their time has come
due() {
    dpl-queue live --permits all
    ended live limited timedOut && task live expiring | grep '"end": "expired"' &&
        dpl-claim live --pid 1 --task delayed
}

# live: start participants, a supervisor and services that live to the end
live() {
    participants live $patient
    workers live
    waiting
    dpl-run --op live --call run --staleness $patient -- sleep 1000 &
    heartbeats --op live --supervisor s --pid $$
    dpl-push --op live --participant supervised --call supervised --supervisor s >/dev/null
    heartbeats --op live --call supervised
    dpl-register --group g --service self --no-pass --pid $$
    heartbeats --op live --group g --supervisor self --pid $$
    # shellcheck disable=SC2016 # the shell of the service expands it
    dpl-register --group g --service started --request --no-pass -- \
        sh -c 'exec dpl-heartbeat --op live --pid $$ --every 0.5'
    dpl-orchestrate --group g --staleness $patient --interval 0.5 --every 0.5 &
    while :; do
        dpl-cleanup
        sleep 0.3
    done &
}

# step NAME DATE: stop the heartbeats of one call, set the clock to DATE, and check that live
# participants stay alive; then kill the process of another call, and check that both are found dead
step() {
    [ -z "$failed" ] || return
    op=step$((steps = steps + 1))
    participants $op
    claimer $op
    within 10 has_revision $op 12
    kill -KILL $silent
    begin=$(now)
    before=$(revision live)
    date -s "$2" >/dev/null
    dpl-cleanup
    dpl-orchestrate --group g
    ok "$1: no task is taken from a worker that lives" claimed
    ok "$1: none is ready or expires, and no deadline is over, before its time" still
    ok "$1: no live participant is declared dead" all_alive
    ok "$1: nor is a process that is killed later" is active $op known
    kill -KILL $known $claimer
    killed=$(now)
    dpl-cleanup --op $op
    found=$(since "$killed")
    ok "$1: a call whose process is killed is dead at once" is exited $op known
    dpl-queue $op --permits all
    ok "$1: the task of a claimer that is killed is back at once" ended $op alone crashed
    ok "$1: a silent call is dead" within 30 is stale $op silent
    took=$(since "$begin")
    age=$(frame $op silent staleForMs)
    ok "$1: it was silent for longer than the threshold" [ "$age" -gt $((threshold * 1000)) ]
    ok "$1: its age is not overstated" \
        less "$age" "$(echo "$took" | awk '{ print ($1 + 2) * 1000 }')"
    ok "$1: it is found soon after the threshold" less "$age" $(((threshold + 10) * 1000))
    ok "$1: live participants keep sending heartbeats" within 10 has_revision live $((before + 20))
    ok "$1: and none of them is declared dead" all_alive
    ok "$1: nor is a task taken" claimed
    [ -z "$failed" ] || deaths | sed 's/^/clocks|         | /'
    format='        %-22s %-24s killed: found after %4s s   silent: found after %4s s, at an age of %s ms'
    # shellcheck disable=SC2059 # it is a format
    say "$(printf "$format" "$1" "$(date '+%F %T')" "$found" "$took" "$age")"
}

# has_revision OP REVISION: test whether an operation has reached a revision, by heartbeats
has_revision() { [ "$(revision "$1")" -ge "$2" ]; }

phase1() {
    mkdir -p /mnt/ledger && chmod 700 /mnt/ledger
    real=$(date +%s)
    began=$(now)
    live
    ok 'the service is started' within 20 grep -q '"runningSince"' "$group"
    step 'an hour ahead' "@$(($(date +%s) + 3600))"
    step 'an hour back' "@$(($(date +%s) - 3600))"
    step 'to 2031' '2031-01-01 00:00:00'
    step 'to 2019' '2019-01-01 00:00:00'
    op=live
    date -s "@$(($(echo "$real $(since "$began")" | awk '{ printf "%d", $1 + $2 }')))" >/dev/null
    ok 'clock set right: no live participant is declared dead' all_alive
    ok 'clock set right: nor is a task taken' claimed
    ok 'the delay, the expiry and the deadline are over in time' within $waits due
    participants reboot
    participants future
    workers reboot
    within 10 has_revision reboot 12
    within 10 task reboot run | grep -q '"state": "claimed"'
    within 10 has_revision future 12
    cat /proc/sys/kernel/random/boot_id >/mnt/boot_id
}

phase2() {
    op=reboot
    ok 'another boot' fails cmp -s /proc/sys/kernel/random/boot_id /mnt/boot_id
    real=$(date +%s)
    began=$(now)
    date -s '2019-01-01 00:00:00' >/dev/null
    op=future
    ok 'rebooted, clock wrong: a call with heartbeats in the future is dead after a window' \
        within 20 is_after_cleanup stale future known
    ok 'rebooted, clock wrong: also if it has no process' is stale future silent
    date -s "@$(echo "$real $(since "$began")" | awk '{ printf "%d", $1 + $2 }')" >/dev/null
    op=reboot
    dpl-cleanup --op reboot
    ok 'rebooted: a call with a process is dead at once' is rebooted reboot known
    ok 'rebooted: a wait for a queue returns the tasks of before' \
        dpl-wait --queue reboot --for change --timeout 10
    ok 'rebooted: that of a claimer' ended reboot alone rebooted
    ok 'rebooted: and that of dpl-run' ended reboot run rebooted
    ok 'rebooted: neither counts as a failure' fails grep '"charged"' "$DPL_LEDGER/queues/reboot.json"
    ok 'rebooted: both are at their place' dpl-claim reboot --pid $$ --task run
    ok 'rebooted: a call without one is dead after the threshold' \
        within 20 is_after_cleanup stale reboot silent
    dpl-orchestrate --group g
    ok 'rebooted: the service is started again' \
        grep -q '"type":"hostRebooted"' "$DPL_LEDGER/g.alerts.jsonl"
    ok 'rebooted: which does not count as an attempt' grep -q '"restartAttempts": 0' "$group"
}

fails() { ! "$@"; }

is_after_cleanup() {
    dpl-cleanup --op "$2"
    is "$@"
}

mount -t proc proc /proc
mount -t devtmpfs dev /dev
mount /dev/ubda /mnt
steps=0
failed=
"phase$CLOCKS_PHASE"
sync
say "end of phase $CLOCKS_PHASE"
echo o >/proc/sysrq-trigger # power off
sleep 100
