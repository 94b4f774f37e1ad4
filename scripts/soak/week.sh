#!/bin/sh
# week.sh BINDIR [SECONDS [DAY...]]: a bad week of a ledger, with the commands in BINDIR.
#
# Queues, services and jobs run under load. Each day something happens to the ledger (see day_*).
# The days repeat until SECONDS have passed; without SECONDS, or with 0, there is one week. Programs
# log what they were told, outside of the ledger; judge compares that with what the ledger says in
# the end: each task was done once or is reported as not done, and no command exited 0 wrongly.
#
# As root, the ledger is on a small disk of its own and belongs to another user, whom permissions
# stop. Otherwise the day of the full disk is left out, as are those whose program is missing (git,
# rsync, jq, ex). Each day that is left out is named; with STRICT, there must be none.
#
# What the pages promise is checked exactly: a file that was set back may lose what was enqueued
# since, and repeat what was done since (spec/queues.md 35.7), but never an epoch, unless everything
# was set back at the same time (spec/reliability.md 3). A task is also done again if a worker said that
# it could not record its end.
#
# shellcheck disable=SC2048,SC2086,SC2129,SC2317 # lists are split; functions are called by name
set -u
umask 022
LC_ALL=C
export LC_ALL

# ---- The machine: a directory, as root with a small disk and a user --------------------------------

if [ "${WEEK_DIR-}" = "" ]; then
    [ $# -ge 1 ] || { echo "usage: week.sh BINDIR [SECONDS [DAY...]]" >&2; exit 2; }
    WEEK_DIR=$(mktemp -d "${TMPDIR:-/tmp}/dpl-week.XXXXXX") || exit 2
    export WEEK_DIR
    mkdir "$WEEK_DIR/bin" "$WEEK_DIR/disk" "$WEEK_DIR/say" "$WEEK_DIR/work" || exit 2
    cp -P "$1"/dpl* "$WEEK_DIR/bin/" && cp "$0" "$WEEK_DIR/week.sh" || exit 2
    shift
    as=''
    mounted=''
    if [ "$(id -u)" = 0 ]; then
        chmod 755 "$WEEK_DIR"
        chown 65534 "$WEEK_DIR/disk" "$WEEK_DIR/say" "$WEEK_DIR/work"
        as='setpriv --reuid 65534 --regid 65534 --clear-groups'
        [ "${1:-0}" -gt 0 ] && room=1g || room=128m # each minute of days adds 15 MiB, and a copy as much
        mount -t tmpfs -o "size=$room,uid=65534,mode=700" tmpfs "$WEEK_DIR/disk" 2>/dev/null && mounted=yes
    fi
    WEEK_DISK=$mounted $as sh "$WEEK_DIR/week.sh" "$@" &
    week=$!
    trap 'kill -TERM $week 2>/dev/null' HUP INT TERM
    wait "$week"
    status=$?
    wait "$week" 2>/dev/null # after a signal
    [ -z "$mounted" ] || umount "$WEEK_DIR/disk" || umount -l "$WEEK_DIR/disk"
    case $status in
    0) rm -rf --one-file-system "$WEEK_DIR" ;;
    *) echo "week: see $WEEK_DIR/say" >&2 ;;
    esac
    exit $status
fi

disk=$WEEK_DIR/disk say=$WEEK_DIR/say work=$WEEK_DIR/work
PATH=$WEEK_DIR/bin:$PATH
HOME=$work
DPL_LEDGER=$disk/repo/led
life=1 # a ledger that was restored as a whole begins another one
export PATH HOME DPL_LEDGER say work life
unset DPL_OP DPL_CALL DPL_QUEUE DPL_TASK DPL_EPOCH DPL_GROUP DPL_SERVICE DPL_NOW DPL_REPLAY
cd "$work" || exit 2
until_time=$(($(date +%s) + ${1:-0}))
[ $# = 0 ] || shift
size=${WEEK_SIZE:-3} # how much is done each day

now() { date +%s.%N; }

# act KIND WHAT COMMAND...: run COMMAND, and log KIND WHAT STATUS BEGIN END LIFE.
act() {
    act_kind=$1 act_what=$2
    shift 2
    act_begin=$(now)
    timeout -s KILL 90 "$@" 2>>"$say/stderr"
    act_status=$?
    echo "$act_kind $act_what $act_status $act_begin $(now) $life" >>"$say/acts"
    return $act_status
}

# wrong TEXT: something is not as a command has said.
wrong() { echo "$(now) $day: $*" >>"$say/wrong"; }

# surely COMMAND...: its output, once it exits 0 in spite of what happens to the ledger.
surely() {
    for surely_try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        surely_out=$(unset DPL_NOW; "$@" 2>>"$say/stderr") && { echo "$surely_out"; return; }
        sleep ".$surely_try"
    done
    wrong "for 10 seconds, this did not exit 0: $*"
}

# ---- What is done under load ----------------------------------------------------------------------

# task.sh is what each task does: it tells that it begins, and that it ends. One in six fails first.
cat >"$work/task.sh" <<'TASK' || exit 2
tell() { { flock 9; echo "$1 $DPL_QUEUE $DPL_TASK $DPL_EPOCH $life $(date +%s.%N)" >>"$say/runs"; } 9>>"$say/runs.lock"; }
tell begin
case $DPL_TASK-$DPL_ATTEMPT in *[15]-1) exit 1 ;; esac
tell end
TASK

# service.sh tells if another copy of it runs.
cat >"$work/service.sh" <<'SERVICE' || exit 2
exec 8>>"$say/service.lock"
flock -n 8 || { echo "$(date +%s.%N) service: there are two" >>"$say/wrong"; exit 9; }
echo $$ >"$say/service"
exec sleep 100000
SERVICE

# done_task QUEUE TASK: it was done.
done_task() { grep -q "^end $1 $2 " "$say/runs"; }

# session N: a producer and a worker with a queue of their own. A worker that exits 0 has left no
# waiting task, and dpl-wait waits for what is true.
session() {
    q=s$day_number-$1
    acked=''
    for t in $(seq $((size + 1))); do
        act enqueue "$q:t$t" dpl-enqueue "$q" --id "t$t" --max-attempts 99 -- sh "$work/task.sh" \
            >/dev/null && acked="$acked t$t"
    done
    if act worker "$q" dpl-work "$q" --jobs 2 >/dev/null; then
        for t in $acked; do
            done_task "$q" "$t" || wrong "the worker of $q exited 0, and $t was not done"
        done
    fi
    act wait "$q:t1" dpl-wait --queue "$q" --task t1 --for 'done' --timeout 1s &&
        { done_task "$q" t1 || wrong "dpl-wait saw $q $t done"; }
}

# crowd N: producers and workers of one queue.
crowd() {
    for t in $(seq "$size"); do
        act enqueue "q:d$day_number-$1-$t" dpl-enqueue q --id "d$day_number-$1-$t" \
            --max-attempts 99 -- sh "$work/task.sh" >/dev/null
    done
    act worker q dpl-work q >/dev/null
}

# claimer N: a program that claims and settles. What was settled with 0 is in the record.
claimer() {
    act enqueue "c:d$day_number-$1" dpl-enqueue c --id "d$day_number-$1" --text x >/dev/null
    claim=$(act claim c dpl-claim c --participant "claimer$1" --deadline 10m) || return 0
    set -- "$1" $claim
    DPL_QUEUE=c DPL_TASK=$2 DPL_EPOCH=$3 DPL_ATTEMPT=2 sh "$work/task.sh"
    if act settle "c:$2" dpl-settle c --task "$2" --epoch "$3" --done; then
        surely dpl-audit c --json --task "$2" | grep -q '"kind":"done"' ||
            wrong "dpl-settle of $2, epoch $3, exited 0, and the record has nothing of it"
    fi
}

# job N: a job that publishes a file, whole or not at all; and a call by hand.
job() {
    if act to "out$1" dpl-run --op "job$1" --to "$work/out$1" -- seq "$day_number" 3000; then
        seq "$day_number" 3000 | cmp -s - "$work/out$1" || wrong "dpl-run --to exited 0, and out$1 differs"
    elif [ -e "$work/out$1" ] && [ "$(tail -n 1 "$work/out$1")" != 3000 ]; then
        wrong "out$1 is torn"
    fi
    op=hand$day_number-$1
    act push "$op" dpl-push --op "$op" --call main --participant "hand$1" --pid $$ >/dev/null || return 0
    act heartbeat "$op" dpl-heartbeat --op "$op" --call main --participant "hand$1" --note "$day" >/dev/null
    if act pop "$op" dpl-pop --op "$op" --call main; then
        case $(surely dpl-status --op "$op") in
        *completed*) ;;
        *) wrong "dpl-pop of $op exited 0, and the operation has not completed" ;;
        esac
    fi
}

# passes N: what cron does each minute; and a kill of the service.
passes() {
    act pass g dpl-orchestrate --group g --staleness 1h
    act cleanup all dpl-cleanup >/dev/null
    read -r pid <"$say/service" && kill -KILL "$pid" 2>/dev/null
}

# load: everything, at the same time, a few times. It prints nothing and returns when all has ended.
load() {
    case $size:$((day_number % 2)) in # a short week has half of it each day
    1:0) roles='crowd crowd session claimer' ;;
    1:1) roles='crowd crowd job passes' ;;
    *) roles='crowd crowd crowd session session claimer job passes' ;;
    esac
    for role in $roles; do
        n=$((${n:-0} + 1))
        (
            i=0
            while [ $i -lt "$size" ]; do
                i=$((i + 1))
                $role "$n$i"
            done
        ) &
        loads="${loads-} $!"
    done
    wait $loads
    loads=''
}

# meanwhile COMMAND...: repeat COMMAND while there is load.
meanwhile() {
    (load) &
    under=$!
    while kill -0 $under 2>/dev/null; do
        "$@"
        sleep .1
    done
    wait $under
}

# ---- The days -------------------------------------------------------------------------------------

# set_back BEGIN: what was enqueued or done since BEGIN may be lost or repeated.
set_back() { echo "$1 $(now) ${2-q}" >>"$say/windows"; }

# doctor_says TEXT: dpl-doctor names what has happened.
doctor_says() {
    dpl-doctor >"$say/doctor" 2>&1
    grep -q "$1" "$say/doctor" || {
        wrong "dpl-doctor says nothing of '$1':"
        grep -v '^ok' "$say/doctor" >>"$say/wrong"
    }
}

day_plain() { load; }

# The ledger is committed, and a clone is used: git drops empty directories.
day_git() {
    commit() { git add -A . && git commit -qm "$day"; }
    cd "$disk/repo" || exit 2
    [ -e .git ] || git init -q . && git config user.name w && git config user.email w@w
    meanwhile commit >>"$say/git" 2>&1
    rm -f .git/index.lock # of a git that found its files changed
    commit >>"$say/git" 2>&1 || [ -z "$(git status --porcelain)" ] || exit 2
    cd "$disk" && git clone -q repo clone && rm -rf repo && mv clone repo && cd "$work" || exit 2
    doctor_says 'cloned, copied or restored'
}

# A copy is used, made as usual: under load, and once more at rest.
day_rsync() {
    copy() { rsync -am --delete "$disk/repo/" "$disk/copy/"; }
    meanwhile copy >>"$say/git" 2>&1
    copy && rm -rf "$disk/repo" && mv "$disk/copy" "$disk/repo" || exit 2
    doctor_says 'cloned, copied or restored'
}

# The file of one queue is restored from a backup: under load, where an edit that has just read the
# newer file may replace it, and once more at rest.
day_set_back() {
    begin=$(now)
    cp "$DPL_LEDGER/queues/q.json" "$work/backup" || exit 2
    restored=no
    restore() {
        if [ $restored = no ] && ! cmp -s "$work/backup" "$DPL_LEDGER/queues/q.json"; then
            cp "$work/backup" "$DPL_LEDGER/queues/q.new" && mv "$DPL_LEDGER/queues/q.new" "$DPL_LEDGER/queues/q.json"
            set_back "$begin"
            restored=yes
        fi
    }
    meanwhile restore
    restored=no
    restore
    act enqueue "q:d$day_number-b" dpl-enqueue q --id "d$day_number-b" -- sh "$work/task.sh" >/dev/null
    doctor_says 'set back'
}

# Everything is restored from an hour-old backup, while nothing runs.
day_restore() {
    tar -C "$disk" -cf "$work/backup.tar" repo || exit 2
    begin=$(now)
    load
    act shutdown g dpl-shutdown --group g --all --wait
    rm -rf "$disk/repo"
    tar -C "$disk" -xf "$work/backup.tar" || exit 2
    set_back "$begin" all
    life=$((life + 1))
    doctor_says 'cloned, copied or restored'
}

# A cleaner of temporary files removes the lock files.
day_locks() {
    cleaner() { find "$DPL_LEDGER" -name '*.lock' -exec rm -f {} + 2>>"$say/stderr"; }
    meanwhile cleaner
}

# Files are edited: with jq and a rename under load, with ex in place at rest.
day_edit() {
    edit() {
        begin=$(now)
        jq '(.tasks[] | .priority) = 3' "$DPL_LEDGER/queues/q.json" >"$DPL_LEDGER/queues/q.new" &&
            mv "$DPL_LEDGER/queues/q.new" "$DPL_LEDGER/queues/q.json"
        set_back "$begin"
    }
    meanwhile edit 2>>"$say/stderr"
    act enqueue "q:d$day_number-e" dpl-enqueue q --id "d$day_number-e" -- sh "$work/task.sh" >/dev/null
    # (a revision of 9 digits and more stays: with a 1 before it each week, it would be too large)
    printf '%s\n' '%s/"priority": 3/"priority": 4/e' '%s/^  "revision": \([0-9]\{1,8\},\)/  "revision": 1\1/e' wq |
        ex -s "$DPL_LEDGER/queues/q.json" >>"$say/git" 2>&1
    act enqueue "q:d$day_number-f" dpl-enqueue q --id "d$day_number-f" -- sh "$work/task.sh" >/dev/null
    doctor_says 'edited without a line'
}

# The disk is full, and empty again.
day_disk() {
    fill() {
        cat /dev/zero >"$disk/fill" 2>/dev/null
        [ -s "$say/full" ] || dpl-doctor >"$say/full" 2>&1
        sleep .3
        rm "$disk/fill"
        sleep .2
    }
    : >"$say/full"
    meanwhile fill
    grep -q 'space .* are free' "$say/full" || wrong "dpl-doctor did not see the full disk"
}

# Directories lose and regain permissions.
day_modes() {
    lose() {
        for d in '' /queues /operations /tmp /archive /queues/tasks/q; do
            [ -d "$DPL_LEDGER$d" ] || continue
            chmod "$1" "$DPL_LEDGER$d"
            sleep .1
            chmod 755 "$DPL_LEDGER$d"
        done
    }
    both() { lose 555; lose 000; }
    meanwhile both
    chmod 555 "$DPL_LEDGER/queues"
    doctor_says 'permission'
    chmod 755 "$DPL_LEDGER/queues"
}

# A pager sleeps, and reads nothing of what a worker says to stderr, whose pipe is full.
day_pager() {
    rm -f "$work/pipe"
    mkfifo "$work/pipe" || exit 2
    # shellcheck disable=SC2217 # it reads nothing
    sleep 1000 <"$work/pipe" &
    pager=$!
    exec 7>"$work/pipe"
    dd if=/dev/zero of="$work/pipe" bs=65536 count=1 oflag=nonblock 2>/dev/null
    for t in 1 2 3; do
        act enqueue "p:d$day_number-$t" dpl-enqueue p --id "d$day_number-$t" --timeout 1s \
            --max-attempts 1 -- sh -c 'trap "" TERM; sleep 3' >/dev/null
    done
    (
        begin=$(now)
        timeout -s KILL 60 dpl-work p --jobs 3 --kill-after 100ms -v 2>&7
        echo "pager p $? $begin $(now) $life" >>"$say/acts"
    ) &
    stuck=$!
    load
    wait $stuck
    kill $pager
    exec 7>&-
    grep -q '^pager p 1 ' "$say/acts" || wrong 'the worker with a full stderr did not exit 1'
}

# There are only 64 descriptors.
# shellcheck disable=SC3045 # every shell of Debian has it
day_descriptors() { (ulimit -n 64; load); }

# The clock is set, on and back.
day_clock() {
    export DPL_REPLAY=1
    for set in ahead back; do
        [ $set = ahead ] && by=+50 || by=-50
        DPL_NOW=$(date -u -d "$by minutes" +%FT%TZ)
        export DPL_NOW
        act enqueue "q:d$day_number-$set" dpl-enqueue q --id "d$day_number-$set" -- sh "$work/task.sh" >/dev/null
        claimer "$set"
        passes
        unset DPL_NOW
    done
    doctor_says 'in the future\|set back by'
    unset DPL_REPLAY
}

# ---- The end --------------------------------------------------------------------------------------

# judge: compare what was logged with what the ledger says now.
judge() {
    day=judge
    for i in 1 2 3; do
        act pass g dpl-orchestrate --group g
        act cleanup all dpl-cleanup >/dev/null
    done

    # What is left: QUEUE:TASK of each task that has not ended.
    for file in "$DPL_LEDGER"/queues/*.json; do
        q=$(basename "$file" .json)
        case $q in c | p) ;; *) act worker "$q" dpl-work "$q" --until-done ;; esac
        surely dpl-status --queue "$q" --ids | sed "s/^/$q:/"
    done >"$say/left"

    dpl-status --group g --service one --check running || wrong 'the service does not run in the end'
    dpl-doctor >"$say/doctor" 2>&1

    # A command that hangs is killed by act (137); a Go program that panics exits with 2.
    awk '$3 == 137 || $3 == 2 || $3 == 64 || $3 == 70 || $3 == 134 { print "crashed or hung:", $0 }' "$say/acts" >>"$say/wrong"
    grep -A 9 -E '^(panic|fatal error|goroutine|SIG[A-Z]+): ' "$say/stderr" >>"$say/wrong"

    # QUEUE:TASK of each end that could not be recorded, as a worker or a claimer was told
    sed -n 's/.*but: \([^ :]*\): settle "\([^"]*\)": .*/\1:\2/p' "$say/stderr" >"$say/unsettled"
    awk '$1 == "settle" && $3 != 0 { print $2 }' "$say/acts" >>"$say/unsettled"

    awk -v unsettled="$say/unsettled" -v left="$say/left" -v runs="$say/runs" -v windows="$say/windows" '
    # between A and B the file of this queue, or everything, was set back
    function set_back(queue, a, b,   i) {
        for (i = 1; i <= n; i++)
            if ((of[i] == queue || of[i] == "all") && a <= end[i] && b >= begin[i]) return 1
        return 0
    }
    BEGIN {
        while ((getline <windows) > 0) { begin[++n] = $1; end[n] = $2; of[n] = $3 }
        while ((getline <left) > 0) is_left[$1] = 1
        while ((getline <unsettled) > 0) may_repeat[$1]++
        while ((getline <runs) > 0) {
            task = $2 ":" $3
            if ($1 == "begin" && $2 != "p" && epochs[$2, $4, $5]++)
                print "epoch " $4 " of " $2 " was given twice: " $0
            if ($1 == "begin") started[task, $4, $5] = $6
            if ($1 == "end") {
                # what was set back since the claim, shortly before the first end began, may lose that end
                if (finished[task] && !set_back($2, claimed[task], $6) && --may_repeat[task] < 0)
                    print "done twice, and nothing was set back between: " $0
                finished[task] = $6
                claimed[task] = started[task, $4, $5] - 1
            }
        }
    }
    $1 == "enqueue" {
        id[$2] = 1; enqueued++
        if ($3 == 0) {
            if (finished[$2]) done++
            else if ($2 in is_left) reported++
            else if ($2 ~ /^p:/) reported++
            else if (set_back(substr($2, 1, index($2, ":") - 1), $5, 1e12)) lost++
            else print "enqueued with 0, and neither done nor left: " $0
        } else if ($3 != 71 && (finished[$2] || $2 in is_left))
            print "refused with " $3 ", and yet there: " $0
    }
    { commands++; if ($3 != 0) failed++ }
    END {
        printf "week: %d commands, %d exited not 0; %d tasks enqueued, %d done, %d left and named, %d lost with what was set back\n",
            commands, failed, enqueued, done, reported, lost >"/dev/stderr"
    }' "$say/acts" >>"$say/wrong"
}

# finish: end what still runs.
finish() {
    trap '' HUP INT TERM
    dpl-shutdown --group g --all --wait --timeout 10s >/dev/null 2>&1
    read -r pid <"$say/service" && kill -KILL "$pid" 2>/dev/null
    chmod -R u+rwx "$disk" 2>/dev/null
    [ -z "$WEEK_DISK" ] || rm -rf "${disk:?}"/* 2>/dev/null
}
trap finish EXIT
trap 'exit 130' HUP INT TERM

mkdir "$disk/repo" || exit 2
: >"$say/runs" && : >"$say/windows" && : >"$say/wrong" && : >"$say/stderr" && : >"$say/acts"
day=monday day_number=0
dpl-queue q --create --max-attempts 99 --backoff 0 || exit 2
dpl-queue c --create || exit 2
dpl-register --group g --request --service one --max-attempts -1 --backoff 0 --env say -- sh "$work/service.sh" || exit 2

# left_out DAY: why this machine cannot have that day, or nothing.
left_out() {
    case $1 in
    git | rsync) command -v "$1" >/dev/null || echo "no $1" ;;
    edit) for p in jq ex; do command -v $p >/dev/null || echo "no $p"; done ;;
    disk) [ -n "$WEEK_DISK" ] || echo "not root, or no mount" ;;
    esac
}

for day in ${*:-plain git set_back rsync locks edit disk modes pager descriptors clock restore}; do
    why=$(left_out "$day")
    [ -z "$why" ] || echo "week: left out: $day: $why"
    [ -n "$why" ] || days="${days-} $day"
    [ -z "$why" ] || [ -z "${STRICT-}" ] || exit 1
done

while :; do
    for day in $days; do
        day_number=$((day_number + 1))
        "day_$day"
        [ ! -s "$say/wrong" ] || break 2
    done
    [ "$(date +%s)" -lt "$until_time" ] || break
done

judge
if [ -s "$say/wrong" ]; then
    echo 'week: FAILED:'
    cat "$say/wrong"
    exit 1
fi
echo "week: $day_number days, nothing wrong"
