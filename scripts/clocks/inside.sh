#!/bin/sh
# inside.sh: the first process of the machine that uml.sh boots. It prints a line for each check, after "clocks| ".
set -u
export PATH="$CLOCKS_BIN:/usr/sbin:/usr/bin:/sbin:/bin" LC_ALL=C TZ=UTC
export DPL_LEDGER=/mnt/ledger DPL_SYNC=none

threshold=5
patient=30 # of those who live: the whole machine may stand still for some seconds
sampled=0.2 # between two looks of ours

say() { echo "clocks| $*"; }

# ok WHAT COMMAND...: a check
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

# frame OP CALL MEMBER: the member of a frame, "" if it has none
frame() {
    awk -v call="\"$2\"," -v member="\"$3\":" '
        /"supervisorHeartbeats"/ { exit }
        $1 == "\"callId\":" { mine = $2 == call }
        mine && $1 == member { gsub(/[",]/, "", $2); print $2 }' "$DPL_LEDGER/operations/$1.json"
}

# is WANT OP CALL: its evidence, or active
is() {
    got=$(frame "$2" "$3" evidence)
    got=${got:-$(frame "$2" "$3" state)}
    [ "$got" = "$1" ] || {
        echo "$3 is $got, not $1"
        return 1
    }
}

# deaths: what the files say of them
deaths() { grep -HE '"(evidence|staleForMs|previousState|lastExit|reason)"' "$DPL_LEDGER/operations/live.json" "$DPL_LEDGER/g.supervisors.json"; }

# all_alive: nobody of operation live and of group g was ever declared dead
all_alive() {
    [ -s "$DPL_LEDGER/operations/live.json" ] && [ -s "$DPL_LEDGER/g.supervisors.json" ] && ! grep -E '"(crashed|cleanedUp|dead|failed|restartScheduled|stopped|exited|stale|rebooted)"' \
        "$DPL_LEDGER/operations/live.json" "$DPL_LEDGER/g.supervisors.json" &&
        ! grep -E '"restartAttempts": [^0]' "$DPL_LEDGER/g.supervisors.json" && [ ! -s "$DPL_LEDGER/g.alerts.jsonl" ]
}

revision() { sed -n 's/^  "revision": \([0-9]*\),$/\1/p' "$DPL_LEDGER/operations/$1.json"; }

# within SECONDS COMMAND...: poll
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

# beat ARGS...: beat in the background, from a process of its own
beat() { dpl-heartbeat --every 0.5 "$@" 2>/dev/null & }

# participants OP [THRESHOLD]: a root caller, one that is known by its process, and one by its heartbeats, which $silent makes
participants() {
    dpl-push --op "$1" --participant cli --call main --staleness "${2:-$threshold}" --interval 0.5 >/dev/null
    beat --op "$1" --call main
    sleep 1000 &
    known=$!
    dpl-push --op "$1" --participant known --call known --pid $known >/dev/null
    beat --op "$1" --call known --while-pid $known
    dpl-push --op "$1" --participant silent --call silent >/dev/null
    beat --op "$1" --call silent
    silent=$!
}

# live: participants and supervisors that live to the end
live() {
    participants live $patient
    dpl-run --op live --call run --staleness $patient -- sleep 1000 &
    beat --op live --supervisor s --pid $$
    dpl-push --op live --participant supervised --call supervised --supervisor s >/dev/null
    beat --op live --call supervised
    dpl-register --group g --service self --no-pass --pid $$
    beat --op live --group g --supervisor self --pid $$
    # shellcheck disable=SC2016
    dpl-register --group g --service started --request --no-pass -- sh -c 'exec dpl-heartbeat --op live --pid $$ --every 0.5'
    dpl-orchestrate --group g --staleness $patient --interval 0.5 --every 0.5 &
    while :; do
        dpl-cleanup
        sleep 0.3
    done &
}

# step NAME DATE: set the clock while one of op has just been silenced; then kill another
step() {
    [ -z "$failed" ] || return
    op=step$((steps = steps + 1))
    participants $op
    within 10 beaten $op 12
    kill -KILL $silent
    begin=$(now)
    before=$(revision live)
    date -s "$2" >/dev/null
    dpl-cleanup
    dpl-orchestrate --group g
    ok "$1: nobody is declared dead" all_alive
    ok "$1: nor the one who has not been killed yet" is active $op known
    kill -KILL $known
    killed=$(now)
    dpl-cleanup --op $op
    found=$(since "$killed")
    ok "$1: whose process is killed is dead at once" is exited $op known
    ok "$1: who is silent is dead" within 30 is stale $op silent
    took=$(since "$begin")
    age=$(frame $op silent staleForMs)
    ok "$1: for longer than the threshold" [ "$age" -gt $((threshold * 1000)) ]
    ok "$1: but no longer than it was silent" less "$age" "$(echo "$took" | awk '{ print ($1 + 2) * 1000 }')"
    ok "$1: soon after the threshold" less "$age" $(((threshold + 10) * 1000))
    ok "$1: those who live beat on" within 10 beaten live $((before + 20))
    ok "$1: and nobody of them is declared dead" all_alive
    [ -z "$failed" ] || deaths | sed 's/^/clocks|         | /'
    say "$(printf '        %-22s %-24s killed: found after %4s s   silent: found after %4s s, at an age of %s ms' "$1" "$(date '+%F %T')" "$found" "$took" "$age")"
}

# beaten OP REVISION
beaten() { [ "$(revision "$1")" -ge "$2" ]; }

phase1() {
    mkdir -p /mnt/ledger && chmod 700 /mnt/ledger
    real=$(date +%s)
    began=$(now)
    live
    ok 'the supervisor is started' within 20 grep -q '"runningSince"' "$DPL_LEDGER/g.supervisors.json"
    step 'an hour ahead' "@$(($(date +%s) + 3600))"
    step 'an hour back' "@$(($(date +%s) - 3600))"
    step 'to 2031' '2031-01-01 00:00:00'
    step 'to 2019' '2019-01-01 00:00:00'
    op=live
    date -s "@$(($(echo "$real $(since "$began")" | awk '{ printf "%d", $1 + $2 }')))" >/dev/null
    ok 'set right: nobody is declared dead' all_alive
    participants reboot
    participants future
    within 10 beaten reboot 12
    within 10 beaten future 12
    cat /proc/sys/kernel/random/boot_id >/mnt/boot_id
}

phase2() {
    op=reboot
    ok 'another boot' fails cmp -s /proc/sys/kernel/random/boot_id /mnt/boot_id
    real=$(date +%s)
    began=$(now)
    date -s '2019-01-01 00:00:00' >/dev/null
    op=future
    dpl-cleanup --op future
    ok 'rebooted, clock wrong: who seems to beat in the future is dead' is stale future known
    ok 'rebooted, clock wrong: whoever it is' is stale future silent
    date -s "@$(echo "$real $(since "$began")" | awk '{ printf "%d", $1 + $2 }')" >/dev/null
    op=reboot
    dpl-cleanup --op reboot
    ok 'rebooted: who is known by its process is dead at once' is rebooted reboot known
    ok 'rebooted: who is known by its heartbeats is dead after the threshold' within 20 is_after_pass stale reboot silent
    dpl-orchestrate --group g
    ok 'rebooted: the supervisor is started again' grep -q '"type":"hostRebooted"' "$DPL_LEDGER/g.alerts.jsonl"
    ok 'rebooted: and at no charge' grep -q '"restartAttempts": 0' "$DPL_LEDGER/g.supervisors.json"
}

fails() { ! "$@"; }

is_after_pass() {
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
