# shellcheck shell=sh disable=SC2016,SC2034,SC2154 # the other variables are in demo.sh
# farm.sh: act 8 of demo.sh, which sources this file after tree.sh.
#
# Twenty compile jobs go through a queue. Workers are killed, everything is killed, a person halts
# and resumes, and one job never works. Everything else is done, and once.

# jobs: print the tasks as lines of JSON: 17 objects, a program of them, a run of it, and a job that
# fails
jobs() {
    after='' i=0
    while [ "$((i += 1))" -le 17 ]; do
        printf '{"taskId":"cc-%d","argv":["./cc.sh","f%d"]}\n' $i $i
        after="$after${after:+,}\"cc-$i\""
    done
    printf '{"taskId":"link","argv":["./cc.sh","program"],"after":[%s]}\n' "$after"
    printf '{"taskId":"run","argv":["sh","-c","./program >answer"],"after":["link"]}\n'
    printf '{"taskId":"poison","argv":["sh","-c","echo missing semicolon; exit 1"]}\n'
}

# sources: write 17 C files that add up to 153, or shell scripts that do where there is no compiler
sources() {
    i=0 calls=0 declared=''
    while [ "$((i += 1))" -le 16 ]; do
        echo "int f$i(void) { return $i; }" >f$i.c
        calls="$calls + f$i()" declared="$declared int f$i(void);"
    done
    printf '#include <stdio.h>\n%s\nint main(void) { printf("%%d\\n", 17 + %s); return 0; }\n' \
        "$declared" "$calls" >f17.c

    cc=cc
    if ! command -v cc >/dev/null; then
        [ -z "${STRICT-}" ] || die 'cc is missing, and STRICT is set'
        echo 'There is no cc here: the objects are copies.' >&2
        cc=
    fi
    cat >cc.sh <<EOF
#!/bin/sh
# cc.sh WHAT: compile WHAT.c, or link the program, slowly; note that it was done
sleep 0.1
case \$1/$cc in
program/cc) cc -o program f*.o ;;
program/) printf '#!/bin/sh\necho 153\n' >program && chmod +x program ;;
*/cc) cc -c "\$1.c" ;;
*) cp "\$1.c" "\$1.o" ;;
esac || exit
echo "\$1" >>made
EOF
    chmod +x cc.sh
}

# ended_tasks: print how many tasks of the farm are done
ended_tasks() { sed -n 's/^    "done": \([0-9]*\).*/\1/p' ledger/queues/farm.json | head -n 1; }

done_at_least() {
    ended=$(ended_tasks)
    [ "${ended:-0}" -ge "$1" ]
}

# attempts: print the processes of the attempts of the farm
attempts() { sed -n 's/.*"pid": \([0-9]*\), "process".*/\1/p' ledger/queues/farm.json; }

# on_ledger: print the processes that a worker has started on the ledger
on_ledger() {
    for process in /proc/[0-9]*; do
        case $(tr '\0' ' ' <"$process/cmdline") in
        *"--ledger $DPL_LEDGER "*) echo "${process#/proc/}" ;;
        esac
    done 2>/dev/null
}

# workers_of_farm: what the line in a crontab starts
workers_of_farm() {
    for slot in 1 2 3; do
        dpl-work farm &
    done
    wait
}

act_of_the_farm() {
    unset DPL_GROUP DPL_OP
    sources

    step 'A queue, with three slots. A task that has failed three times is dead.'
    run 0 dpl-queue farm --create --slots 3 --max-attempts 3 --backoff 0
    jobs >jobs.jsonl
    typed 'dpl-enqueue farm <jobs.jsonl   # 17 objects, link, run, and one that cannot work'
    check 'tasks' 20 "$(dpl-enqueue farm <jobs.jsonl | wc -l | tr -d ' ')"

    step 'Three workers, as a line in a crontab starts them. When a few jobs are done, one attempt' \
        'is killed: its task is tried again.'
    typed 'dpl-work farm &   # three times'
    workers_of_farm 2>said &
    child=$!
    workers="$workers $child"
    until_true 30 'three jobs are done' done_at_least 3
    victim=$(attempts | head -n 1)
    typed "kill -KILL $victim"
    kill -KILL "$victim" 2>/dev/null
    until_true 30 'six jobs are done' done_at_least 6

    step 'A person halts the queue. What runs goes on; nothing new begins.'
    run 0 dpl-queue farm --halt 'lunch' --as ada
    wait "$child"
    halted=$(ended_tasks)
    run 3 dpl-work farm --once
    run 0 dpl-status --queue farm --why link
    matches 'why' '*halted by ada: lunch*' "$out"
    check 'jobs done while it was halted' "$halted" "$(ended_tasks)"
    run 0 dpl-queue farm --resume --as ada

    step 'The power fails: all that works on the queue is killed at once.'
    workers_of_farm 2>said &
    child=$!
    workers="$workers $child"
    until_true 30 'more jobs are done' done_at_least $((halted + 2))
    typed "kill -KILL $(attempts | tr '\n' ' ')and all workers"
    # shellcheck disable=SC2046 # one word per pid
    {
        kill -KILL "$child" $(attempts) $(on_ledger)
        wait "$child"
    } 2>/dev/null

    step 'The next line of the crontab goes on. Whoever looks first returns what was claimed.'
    typed 'dpl-work farm   # three times, until nothing is left'
    until_true 60 'the queue is empty' drained
    run 0 dpl-status --queue farm
    matches 'the end' '*19 done*' "$out"
    check 'the answer' 153 "$(cat answer)"
    check 'jobs that are done' 19 "$(ended_tasks)"

    step 'One task is dead. Its last words are there, and it can be tried again.'
    run 0 dpl-status --queue farm --why poison
    matches 'why' '*missing semicolon*' "$out"
    run 0 dpl-enqueue farm --cancel poison
    run 0 dpl-wait --queue farm --timeout 5s
}

# drained: run the workers once more, and report whether nothing is left to do
drained() {
    workers_of_farm 2>said
    dpl-status --queue farm --check empty
}
