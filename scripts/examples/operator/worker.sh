#!/bin/sh
# worker.sh: do a task by asking an agent. dpl-work starts it in the directory of the task.
#
# The agent is the program $AGENT: it reads a prompt and writes files. agent.sh stands in for one.
# It may say dpl-settle --block QUESTION. Whether it has done the task, the check of that decides.
set -eu

# member NAME: print a text of the task
member() {
    printf '%b\n' "$(sed -nE 's/.*"'"$1"'":"(([^"\\]|\\.)*)".*/\1/p' "$DPL_SPEC" |
        sed 's/\\\(["/]\)/\1/g')"
}

{
    echo "Task $DPL_TASK: $(member intent)"
    member instructions
    if [ -n "$DPL_REASON" ]; then
        echo "The last attempt did not do that: $DPL_REASON"
        [ -z "$DPL_PREVIOUS" ] || cat "$DPL_PREVIOUS"
        [ "$DPL_SAME_ERROR" = 0 ] || echo 'This error has come again. Do just what is asked for.'
    fi
} | tee "$DPL_TMP/prompt" # so the log has it

# note KIND: add the text of DPL_TMP/KIND to the record of the project
note() { dpl-audit "$DPL_QUEUE" --note "$1" --task "$DPL_TASK" --data "$DPL_TMP/$1"; }

note prompt
{
    status=0
    "${AGENT:-$(dirname -- "$0")/agent.sh}" <"$DPL_TMP/prompt" || status=$?
    echo "$status" >"$DPL_TMP/status"
} | tee "$DPL_TMP/response"
note response
exit "$(cat "$DPL_TMP/status")"
