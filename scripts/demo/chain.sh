# shellcheck shell=sh disable=SC2034,SC2154 # the other variables are in demo.sh
# chain.sh: acts 2 and 3 of demo.sh, which sources this file.
#
# This shell script calls a Python worker, which calls a Node worker. In act 2 the Python worker is
# killed with SIGKILL in the middle of its call; in act 3 it is not. Without python3 or node a shell
# worker replaces theirs.

# frames OP: print the calls of OP and their states, "shell:active python:crashed"
frames() {
    dpl-status --op "$1" 2>/dev/null | awk '
        $1 == "CALL" { table = 1; next }
        /^$/ { table = 0 }
        { sub(/^[^A-Za-z0-9]*/, "") }
        table { printf "%s%s:%s", gap, $1, $4; gap = " " }'
}

# judged OP CALL: print the verdict of dpl-status on a call
judged() {
    dpl-status --op "$1" |
        awk -v call="$2" '{ sub(/^[^A-Za-z0-9]*/, "") } $1 == call { print $NF }'
}

# pid_of OP CALL: print the pid of a call
pid_of() {
    dpl-status --op "$1" |
        awk -v call="$2" '{ sub(/^[^A-Za-z0-9]*/, "") } $1 == call { print $3 }'
}

has_frames() { [ "$(frames "$1")" = "$2" ]; }

# member FILE NAME: print the value of a member that has a line of its own in a JSON file
member() { sed -n "s/^  \"$2\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}\$/\1/p" "$1" 2>/dev/null; }

# said FILE: show what the workers have printed to FILE since the last time
said() {
    tail -n "+$((shown + 1))" "$1" | sed 's/^/   | /'
    shown=$(wc -l <"$1" | tr -d ' ')
}

# look STATE FRAMES: show the operation, and check its state and its calls
look() {
    run 0 dpl-status --op "$DPL_OP"
    matches "first line of dpl-status" "$DPL_OP: $1, revision *" "$(sed 1q out)"
    check "calls of $DPL_OP" "$2" "$(frames "$DPL_OP")"
}

# countdown STATE: make three more passes, and check that the third archives the operation
countdown() {
    file=ledger/operations/$DPL_OP.json
    check "state in $file" "$1" "$(member "$file" state)"
    run 4 dpl-heartbeat --call shell
    check "terminalHeartbeats" 1 "$(member "$file" terminalHeartbeats)"
    run 0 dpl-cleanup --verbose
    check "what dpl-cleanup says" \
        "dpl-cleanup: $DPL_OP: $1, revision $(member "$file" revision), 0 calls" "$(sed 1q out)"
    [ "$1" = completed ] || matches 'its line about the failure' \
        "*$DPL_OP: failed: call python crashed: its process is gone, found *" "$out"
    check "terminalHeartbeats" 2 "$(member "$file" terminalHeartbeats)"
    run 0 dpl-cleanup --verbose
    check "what dpl-cleanup says" "dpl-cleanup: $DPL_OP: archived" "$out"
    gone "$file" "$file.lock" "ledger/tmp/$DPL_OP"
    there "ledger/archive/$DPL_OP.json"
    check "state in the archive" "$1" "$(member "ledger/archive/$DPL_OP.json" state)"
}

# worker_of PROGRAM WORKER PROBE...: print the command WORKER if PROGRAM PROBE... succeeds,
# otherwise that of a shell worker; with STRICT=1, end the demo instead
worker_of() {
    program=$1 worker=$2
    shift 2
    if "$program" "$@" >/dev/null 2>&1 </dev/null; then
        echo "$worker"
    elif [ -n "${STRICT-}" ]; then
        die "$program is missing, and STRICT is set"
    else
        echo "There is no $program here: a shell worker replaces it." >&2
        echo 'sh worker.sh'
    fi
}

# chain: push a call of this script, and start the workers that it calls
chain() {
    recent='import sys; sys.exit(sys.version_info < (3, 7))'
    python=$(worker_of python3 'python3 worker.py' -c "$recent") || exit 1
    node=$(worker_of node 'node worker.js' -e 0) || exit 1

    step 'This script starts an operation. --pid names the process to watch. With --staleness, a' \
        'call that had no process would be dead after a minute without heartbeats.'
    export DPL_OP="$1"
    typed "export DPL_OP=$DPL_OP"
    run 0 dpl-push --call shell --participant demo.sh --pid $$ --staleness 1m --resource-root work
    check 'what dpl-push prints' "$DPL_OP shell" "$out"

    step 'It calls the Python worker, which calls the Node worker. Each pushes its call, with a' \
        'temporary directory (--tmp) and a file that is deleted if the call crashes (--resource).'
    typed "$python python $node node &"
    # shellcheck disable=SC2086 # each is several words
    $python python $node node >said 2>&1 &
    child=$!
    workers="$workers $child"
    shown=0
    until_true 20 "three calls of $DPL_OP, each with its files" begun
    workers="$workers $(pid_of "$DPL_OP" node) $(pid_of "$DPL_OP" python)"
    said said

    step 'The ledger is a directory of text files. dpl-status shows the stack of calls.'
    look running 'shell:active python:active node:active'
    for call in shell python node; do
        check "verdict on $call" alive "$(judged "$DPL_OP" $call)"
    done
    run 0 ls ledger/operations work
    run 0 cat work/python.txt
    check 'work/python.txt' 'half a result of python' "$out"
    there "ledger/tmp/$DPL_OP"/*~python/scratch "ledger/tmp/$DPL_OP"/*~node/scratch
}

begun() {
    has_frames "$DPL_OP" 'shell:active python:active node:active' &&
        [ -s work/python.txt ] && [ -s work/node.txt ]
}

act_of_the_crash() {
    chain act2

    step 'The Python worker is killed. It has no chance to say anything.'
    victim=$(pid_of act2 python)
    {
        run 0 kill -KILL "$victim"
        until_true 20 'dpl-status judges python: exited' is_judged act2 python exited
        wait "$child"
        check 'exit status of the killed worker' 137 $?
    } 2>/dev/null # where sh is bash, it says "Killed"

    step 'dpl-status shows at once that the process is gone. It changes nothing.'
    look running 'shell:active python:active node:active'

    step 'The next heartbeat of any participant, here of this script, records the crash and stops' \
        'the operation. Exit status 3 says: clean up and pop.'
    run 3 dpl-heartbeat --call shell
    case $out in *python*) ;; *) check 'what dpl-heartbeat prints' '' "$out" ;; esac
    look cleanup 'shell:active python:crashed node:active'
    matches 'the transition' '*running -> cleanup by demo.sh: call python crashed: its process is gone*' "$out"
    run 0 dpl-status --op act2 --why python
    check 'evidence' 'its process is gone' "$(sed -n 's/^It crashed [^:]*: \(.*\), found by .*/\1/p' out)"
    check 'the participant that detected it' demo.sh "$(sed -n 's/^It crashed .*, found by \([^;]*\);.*/\1/p' out)"
    there work/python.txt ledger/tmp/act2/*~python/scratch

    step 'The files of the Python worker are still there, so that its caller can look at them.' \
        'The next heartbeat deletes them: the declared file and the temporary directory.'
    run 3 dpl-heartbeat --call shell
    look cleanup 'shell:active python:cleanedUp node:active'
    run 0 ls work
    check 'what is left in work' node.txt "$out"
    gone ledger/tmp/act2/*~python
    there ledger/tmp/act2/*~node/scratch

    step 'The Node worker, whose caller is gone, learns this from its own next heartbeat. It' \
        'cleans up and pops.'
    run 0 touch go
    until_true 20 'the Node worker has popped' has_frames act2 'shell:active python:cleanedUp'
    until_true 20 'the Node worker has ended' has_ended said
    said said
    gone work/node.txt ledger/tmp/act2/*~node
    look cleanup 'shell:active python:cleanedUp'

    step 'This script pops its call. The cleaned up call above it is removed with it, and the' \
        'operation has failed.'
    run 0 dpl-pop --call shell
    check 'what dpl-pop prints' '' "$out"
    look failed ''

    step 'For two more passes every participant can see that it is over (exit status 4). The' \
        'third pass moves it to the archive.'
    countdown failed
    look failed ''
    matches 'the archived operation' 'act2: failed, revision *, archived' "$(sed 1q out)"
    run 4 dpl-push --participant latecomer
}

is_judged() { [ "$(judged "$1" "$2")" = "$3" ]; }

# has_ended FILE: test whether FILE ends with the exit status of a pop, a worker's last line
has_ended() {
    tail -n 2 "$1" | head -n 1 | grep -q 'dpl-pop' && tail -n 1 "$1" | grep -q 'exit status 0$'
}

act_of_success() {
    rm -rf go work/*
    chain act3

    step 'The Node worker finishes and pops, then the Python worker does. The files that they' \
        'declared stay; the temporary directories are deleted.'
    run 0 touch go
    wait "$child"
    check 'exit status of the Python worker' 0 $?
    said said
    look running 'shell:active'
    run 0 ls work
    check 'what is left in work' "node.txt
python.txt" "$out"
    gone ledger/tmp/act3/*~python ledger/tmp/act3/*~node
    run 0 cat work/python.txt work/node.txt
    check 'the results' 'result of python
result of node' "$out"

    step 'This script pops the last call, and the operation is completed.'
    run 0 dpl-pop --call shell
    look completed ''

    step 'The third pass archives it.'
    countdown completed
    there work/python.txt work/node.txt
    run 0 dpl-status --check completed
}

