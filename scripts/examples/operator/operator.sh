#!/bin/sh
# operator.sh COMMAND --project-id ID [FLAG]...: control long work on a project, with dpl alone.
#
#	init-state [--execution-mode MANUAL]        make a halted project without tasks
#	set-goal --description TEXT | --completed   say what it is for, or that this is reached
#	enqueue --task-file FILE                    add the tasks of FILE, all or none
#	start                                       do tasks until none is left, or it is halted
#	halt --reason TEXT                          begin no other task
#	resume                                      lift the halt, for the next start
#	status                                      show it
#	step                                        if it is MANUAL: let one task go
#	retry --task ID                             try a blocked or dead task again
#	accept --task ID                            say that an uncertain task is done
#	reject --task ID --reason TEXT              say that it is not
#
# A project is a queue. Each command is one edit of it, so start goes on where it was, whatever was
# killed. Tasks are done one after the other by worker.sh, in the directory sandbox/ID.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
case ${DPL_LEDGER-} in
'' | /*) ;;
*) DPL_LEDGER=$PWD/$DPL_LEDGER ;; # also in sandbox/ID
esac

# fail STATUS TEXT...: say why the command has failed, and exit
fail() {
    status=$1
    shift
    echo "operator.sh: $*" >&2
    exit "$status"
}

[ $# -gt 0 ] || fail 64 'want a command: see the beginning of this file'
command=$1 project='' mode=AUTO description='' completed='' file='' reason='' task=''
shift
while [ $# -gt 0 ]; do
    [ "$1" != --completed ] || { completed=yes && shift && continue; }
    [ -n "${2-}" ] || fail 64 "$1: it needs a value"
    case $1 in
    --project-id) project=$2 ;;
    --execution-mode) mode=$2 ;;
    --description) description=$2 ;;
    --task-file) file=$2 ;;
    --reason) reason=$2 ;;
    --task) task=$2 ;;
    *) fail 64 "$1: no such flag" ;;
    esac
    shift 2
done

# need FLAG VALUE: fail if the flag was not given
need() { [ -n "$2" ] || fail 64 "$command: $1 is required"; }
need --project-id "$project"

# enter: go to the directory of the project, which must exist
enter() {
    dpl-status --queue "$project" >/dev/null || exit
    mkdir -p "sandbox/$project" && cd "sandbox/$project"
}

# answer FLAG [TEXT]: answer the question on which a task waits, because its check could not tell
answer() {
    need --task "$task"
    found=$(dpl-status --queue "$project" --why "$task" --json)
    question=$(printf '%s\n' "$found" | sed -n 's|^    "question": "ask/\(.*\)",*$|\1|p')
    [ -n "$question" ] || fail 76 "$task: no question about it is open"
    dpl-answer "$question" "$@"
}

case $command in
init-state)
    case $mode in
    AUTO) permits=all ;;
    MANUAL) permits=0 ;;
    *) fail 64 "--execution-mode: want AUTO or MANUAL, not $mode" ;;
    esac
    ! dpl-status --queue "$project" >/dev/null 2>&1 || fail 76 "$project: it exists already"
    dpl-queue "$project" --create --slots 1 --max-attempts 4 --backoff 0 --permits "$permits" \
        --halt-on timedOut --halt 'not started'
    ;;
set-goal)
    if [ -n "$completed" ]; then
        dpl-queue "$project" --goal-done
    else
        need --description "$description"
        dpl-queue "$project" --goal "$description"
    fi
    ;;
enqueue)
    need --task-file "$file"
    case $file in /*) ;; *) file=$PWD/$file ;; esac
    enter # a working_directory is one in it
    dpl-enqueue "$project" --no-create --file "$file"
    ;;
start)
    enter
    agent=${AGENT:-$here/agent.sh}
    found=$(command -v -- "$agent") || found=
    if [ ! -f "$found" ] || [ ! -x "$found" ]; then # the worker's 127 would be the end of each task
        dpl-queue "$project" --halt notStarted --details "not a program: $agent"
        fail 3 "AGENT: not a program: $agent"
    fi
    dpl-work "$project" --until-done --timeout 30m -- "$here/worker.sh"
    ;;
halt)
    need --reason "$reason"
    dpl-queue "$project" --halt "$reason"
    ;;
resume) dpl-queue "$project" --resume ;;
step) dpl-queue "$project" --permits +1 ;;
retry)
    need --task "$task"
    dpl-enqueue "$project" --again "$task"
    ;;
accept) answer --allow ;;
reject)
    need --reason "$reason"
    answer --deny "$reason"
    ;;
status)
    state=$(dpl-status --queue "$project" --json)
    printf '%s\n' "$state" | awk -f "$here/status.awk"
    ;;
*) fail 64 "$command: no such command: see the beginning of this file" ;;
esac
