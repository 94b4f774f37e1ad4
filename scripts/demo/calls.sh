# shellcheck shell=sh disable=SC2034,SC2154 # the other variables are in demo.sh
# calls.sh: act 4 of demo.sh, which sources this file.
#
# Two ordinary commands run as calls of one operation. One is killed.

act_of_the_commands() {

    step 'dpl-run runs any command as a call: it pushes, sends heartbeats and pops. dpl-wait' \
        'waits for a state.'
    export DPL_OP=act4
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

    step 'The second dpl-run is killed, and its command with it. Whoever waits for a failure is' \
        'woken.'
    {
        run 0 kill -KILL "$second"
        wait "$second"
    } 2>/dev/null # where sh is bash, it says "Killed"
    run 0 dpl-wait --for cleanup --timeout 20s

    step 'The first dpl-run stops its command and pops. The operation can no longer be completed,' \
        'so dpl-wait gives up waiting for that at once.'
    wait "$first"
    check 'exit status of the first dpl-run' 3 $?
    shown=0
    said said
    run 1 dpl-wait --for completed --timeout 20s
    run 0 dpl-wait --for failed --timeout 20s
    look failed ''
}
