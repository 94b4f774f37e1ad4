# shellcheck shell=sh disable=SC2034,SC2154 # the rest is in demo.sh
# calls.sh: act 3 of demo.sh, which reads this file.
#
# Two commands that know nothing of DPL are calls of one operation. One is killed.

act_of_the_commands() {
    act=3 number=0
    printf '\n%sAct 3: commands that know nothing of DPL.%s\n' "$bold" "$plain"

    step 'dpl-run makes a call of any command: it pushes, beats for it and pops. dpl-wait waits until that is so.'
    export DPL_OP=act3
    typed "export DPL_OP=$DPL_OP"
    typed 'dpl-run --call first -- sleep 600 &'
    dpl-run --call first -- sleep 600 >said 2>&1 &
    first=$!
    workers=$first
    run 0 dpl-wait --for running --timeout 20s
    typed 'dpl-run --call second -- sleep 600 &'
    dpl-run --call second -- sleep 600 2>/dev/null &
    second=$!
    workers="$first $second"
    run 0 dpl-wait --ready second --timeout 20s
    look running 'first:active second:active'

    step 'The second is killed, and with it its command. Who waits for a failure learns of it.'
    {
        run 0 kill -KILL "$second"
        wait "$second"
    } 2>/dev/null # where sh is bash, it says "Killed"
    run 0 dpl-wait --for cleanup --timeout 20s

    step 'The first stops its command and pops. That the operation is completed has become impossible: nobody waits for it.'
    wait "$first"
    check 'exit status of the first dpl-run' 3 $?
    shown=0
    said said
    run 1 dpl-wait --for completed --timeout 20s
    run 0 dpl-wait --for failed --timeout 20s
    look failed ''
}
