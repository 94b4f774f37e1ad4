#!/bin/sh
# agent.sh: stand in for a coding agent. It works, or misbehaves, as the text of its ticket says.
set -u
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
mode=$(sed -n 's/.*"text":"\([a-z]*\)".*/\1/p' "$DPL_SPEC")
keep=$DPL_TASK.keep
echo "$DPL_PARTICIPANT at $DPL_TASK: $mode${DPL_REASON:+, again: $DPL_REASON}"

# tool COMMAND: run COMMAND as the host of an agent does, if its hook says yes
tool() {
    echo "{\"tool_name\": \"Bash\", \"tool_input\": {\"command\": \"$1\"}}" |
        "$here/permission.sh" >"$DPL_TMP/hook" && sh -c "$1"
}

# asked: wait until a question of this attempt is open, and set $id to its id, $shown to its hash
asked() {
    until id=$(dpl-answer | grep -F "$DPL_TASK") && id=${id%% *}; do sleep 0.05; done
    shown=$(dpl-answer "$id" --json | sed -n 's/^  "shown": "\(.*\)",$/\1/p')
}

# forge COMMAND...: run COMMAND, which answers, and note its exit status
forge() {
    "$@"
    echo $? >>"$DPL_TASK.forged"
}

bare() { env -i PATH="$PATH" DPL_LEDGER="$DPL_LEDGER" "$@"; }
work() { echo "by $DPL_PARTICIPANT" >"$DPL_TASK.done"; }
die() { kill -KILL $$; }

case $mode in
obey) # asks, and does without what it must not do
    tool "cat $keep" && { tool "rm $keep" || echo 'I leave it alone.'; } && work
    ;;
defy) # does what it must not
    tool "rm $keep" || rm "$keep"
    work
    ;;
flood) # asks without end
    i=0 status=75
    while [ $status = 75 ]; do
        dpl-ask "$DPL_TASK $i" --key $i --wait 1ms
        status=$? i=$((i + 1))
    done
    echo "$((i - 1)) $status" >"$DPL_TASK.asked"
    until [ -e "$DPL_TASK.calm" ]; do sleep 0.05; done
    exit 1
    ;;
forge) # answers itself: as it is, without its environment, and as an orphan
    tool "rm $keep" &
    asked
    forge dpl-answer "$id" --shown "$shown" --allow
    forge bare dpl-answer "$id" --shown "$shown" --allow
    # shellcheck disable=SC2016 # the shells expand it
    bare sh -c 'setsid sh -c "until [ -e $0 ]; do sleep 0.05; done
        dpl-answer $1 --shown $2 --allow; echo \$? >>$3" &' "$DPL_TMP/alone" "$id" "$shown" "$DPL_TASK.forged"
    : >"$DPL_TMP/alone"
    wait $! && work
    ;;
self) # answers itself openly
    tool "rm $keep" &
    asked
    dpl-answer "$id" --shown "$shown" --allow --allow-self
    wait $! && work
    ;;
hide) # hides what it asks
    dpl-ask "$(printf '\033[2J\033[Hall is well')" && work
    ;;
hang) exec sleep 1000 ;;
slow) # goes on when it is told to
    read -r line && [ "$line" = continue ] && work
    ;;
fork) # leaves a process
    setsid sleep 1000 &
    echo $! >"$DPL_TASK.left"
    work
    ;;
crash) # dies at first
    [ "$DPL_ATTEMPT" != 1 ] || die
    work
    ;;
patient) # waits for a person
    tool "rm $keep" && work
    ;;
idle) # has nothing to do until a message comes
    WAIT=1h "$here/turn.sh"
    [ $? = 2 ] && work
    "$here/turn.sh"
    ;;
forget) # dies with a message in its hands
    "$here/turn.sh"
    [ "$DPL_ATTEMPT" != 1 ] || die
    work
    "$here/turn.sh"
    ;;
lazy) # says that it has worked
    [ -z "$DPL_REASON" ] || work
    ;;
*)
    echo "I do not know how to $mode." >&2
    exit 1
    ;;
esac
