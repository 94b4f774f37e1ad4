# shellcheck shell=sh disable=SC2016,SC2034,SC2154 # the other variables are in demo.sh
# agents.sh: act 10 of demo.sh, which sources this file after project.sh.
#
# An agent asks a person before it removes a file. It tries to answer itself, and is killed while it
# waits, with all that runs it. Then it dies with a message in its hands, and gets it again.

# coder: print the agent, whose ticket says what to do
coder() {
    cat <<'END'
#!/bin/sh
case $DPL_TASK in
tidy)
    printf '{"tool": "Bash", "argv": ["rm", "precious"]}' >"$DPL_TMP/input"
    dpl-ask 'May I?' --timeout 5m --input "$DPL_TMP/input" 2>told &
    until id=$(dpl-answer --ids | grep q); do sleep 0.05; done
    shown=$(dpl-answer "$id" --json | sed -n 's/^  "shown": "\(.*\)",$/\1/p')
    dpl-answer "$id" --shown "$shown" --allow 2>forged
    echo "$?" >>tried
    wait $! && rm precious
    ;;
read)
    set -- $(dpl-claim mail.agent --pid $$)
    echo "$1" >>received
    [ "$DPL_ATTEMPT" != 1 ] || kill -KILL $$
    dpl-settle mail.agent --task "$1" --epoch "$2" --done
    ;;
esac
exit 0
END
}

# asks_again: make a pass, because the end of a process takes a moment, and succeed if it has asked
asks_again() { dpl-orchestrate --group crew && asks 2; }

asks() { question=$(dpl-answer --ids) && [ -n "$question" ] && [ "$(wc -l <tried 2>/dev/null)" = "$1" ]; }
is_done() { dpl-wait --queue tickets --task "$1" --timeout 10ms 2>/dev/null; }

act_of_the_agents() {
    coder >coder.sh
    chmod +x coder.sh
    echo 'all we have' >precious
    : >tried

    step 'Tickets are the tasks of a queue. An agent is a service that does them.'
    run 0 dpl-queue tickets --create --backoff 0
    run 0 dpl-enqueue tickets --id tidy --text 'Tidy up'
    run 0 dpl-register --group crew --service agent --request -- \
        dpl-work tickets --follow --participant agent -- ./coder.sh

    step 'The agent wants to remove a file, so it asks, and waits. It tries to answer itself.'
    until_true 30 'the agent asks' asks 1
    first=$question
    run 0 dpl-answer
    matches 'the question' '*q*permission*agent*May I? ?Bash: rm precious?*' "$out"
    run 0 cat forged
    matches 'its own answer' '*question is one'"'"'s own: somebody else must answer it*' "$out"

    step 'The power fails: the agent, and all that runs it, is killed. Nobody waits for the answer' \
        'any more. The next pass starts the agent again, and it asks again.'
    typed "kill -KILL $(started agent | tr '\n' ' ')"
    # shellcheck disable=SC2046 # one word per pid
    kill -STOP $(started agent) 2>/dev/null # none sees how another dies
    until none_started agent; do
        # shellcheck disable=SC2046 # one word per pid
        kill -KILL $(started agent) 2>/dev/null
    done
    run 0 dpl-orchestrate --group crew
    until_true 30 'the agent asks again' asks_again
    run 0 dpl-status --queue ask
    matches 'the first question' "*$first *withdrawn*" "$out"

    step 'A person says no. Any answer but yes is one, and so is none within five minutes.'
    run 0 dpl-answer "$question" --deny 'it is all we have'
    until_true 30 'the ticket is done' is_done tidy
    run 0 cat told
    matches 'what the agent is told' '*denied by *: it is all we have' "$out"
    there precious

    step 'A message waits for the agent. It dies with that in its hands, and gets it again.'
    run 0 dpl-enqueue mail.agent --id m1 --text 'Thank you'
    run 0 dpl-enqueue tickets --id read --text 'Read your mail'
    until_true 30 'the ticket is done' is_done read
    check 'the message was given' 'm1 m1' "$(tr '\n' ' ' <received | sed 's/ $//')"
    run 0 dpl-status --queue mail.agent
    matches 'the message' '*m1 *done *' "$out"
    run 0 dpl-shutdown --group crew --service agent --wait
}
