# shellcheck shell=sh disable=SC2016,SC2034,SC2154 # the other variables are in demo.sh
# project.sh: act 9 of demo.sh, which sources this file after farm.sh.
#
# A worker writes the files of a small project. Rules judge what it did: one attempt is wrong, one
# is killed, a worker asks a question, and the project ends when its goal is reached.

# greet_tasks: print the tasks, with what must be true of their files
greet_tasks() {
    cat <<'END'
[{"task_id": "program", "required_artifacts": ["greet.sh"], "tests_required": true,
  "test_command": "sh greet.sh Ada | grep -x 'Hello, Ada!'"},
 {"task_id": "release", "required_artifacts": ["release.json"],
  "expected_json_schema": {"name": "string", "version": "integer"}},
 {"task_id": "logo", "acceptance_criteria": ["logo.svg contains 'teal'"]}]
END
}

# greet_worker: print the worker. What it writes first is wrong; the report of the check helps.
greet_worker() {
    cat <<'END'
#!/bin/sh
case $DPL_TASK in
program) echo "echo Hello, \$1$(grep -qs 'it exited 1' "$DPL_PREVIOUS" && echo !)" >greet.sh ;;
release)
    [ "$DPL_ATTEMPT" != 1 ] || exec sleep 60
    echo '{"name": "greet", "version": 1}' >release.json
    ;;
logo)
    [ -e colour ] || exec dpl-settle --block 'Which colour has the logo?'
    echo "<svg fill='$(cat colour)'/>" >logo.svg
    ;;
esac
END
}

greet_attempt() { sed -n 's/.*"pid": \([0-9]*\), "process".*/\1/p' ledger/queues/greet.json; }

# is_tried TASK: test whether an attempt at TASK is being made
is_tried() { dpl-status --queue greet --why "$1" 2>/dev/null | sed 1q | grep -q 'is claimed'; }

act_of_the_project() {
    greet_worker >greet-worker.sh
    greet_tasks >greet.json
    chmod +x greet-worker.sh

    step 'A project is a queue with a goal. It does one task at a time, and is halted at first.'
    run 0 dpl-queue greet --create --slots 1 --backoff 0 --goal 'publish greet' --halt 'not started'
    run 0 cat greet.json
    run 0 dpl-enqueue greet --file greet.json
    run 3 dpl-work greet -- ./greet-worker.sh
    run 0 dpl-queue greet --resume

    step 'The first program has a mistake. The worker says that it is done, but the test does not:' \
        'the task is tried again, with the report.'
    typed 'dpl-work greet -- ./greet-worker.sh &'
    dpl-work greet -- ./greet-worker.sh 2>said &
    child=$!
    workers="$workers $child"
    until_true 30 'the release is written' is_tried release
    run 0 cat said
    matches 'the check' '*the check has not passed: command*it exited 1*' "$out"
    check 'the program' 'Hello, Ada!' "$(sh greet.sh Ada)"

    step 'The next attempt is killed. Its task is tried again at once.'
    victim=$(greet_attempt)
    typed "kill -KILL $victim"
    kill -KILL "$victim" 2>/dev/null
    wait "$child"
    check 'exit status of the worker' 3 $? # the queue is halted
    there release.json

    step 'The last task waits for an answer, so the project has halted itself.'
    run 0 dpl-status --queue greet
    matches 'what is stuck' '*logo*blocked*Which colour has the logo?*' "$out"
    run 0 sh -c 'echo teal >colour'
    run 0 dpl-enqueue greet --again logo
    run 0 dpl-queue greet --resume
    run 3 dpl-work greet -- ./greet-worker.sh
    check 'the logo' "<svg fill='teal'/>" "$(cat logo.svg)"

    step 'No task is left, but the goal is open, so the project has halted itself again. An' \
        'operator says that the goal is reached.'
    run 0 dpl-status --queue greet
    matches 'the halt' '*halted by policy*exhausted-goal-incomplete*' "$out"
    run 0 dpl-queue greet --goal-done --resume
    run 0 dpl-status --queue greet --check completed
}
