#!/bin/sh
# farm.sh DIR: build the C program in DIR through a queue, with workers that cron starts.
#
# Each DIR/*.c becomes an object, and all of them become DIR/program. Run it as often as you like: a
# task is made once for what a file contains, so only what has changed is compiled again. The workers
# are a line in a crontab. Those that find all slots taken, or nothing to do, end at once; after a
# crash or a reboot, the next one goes on:
#
#	* * * * * for i in 1 2 3; do dpl-work farm & done; wait
#
#	dpl-wait --queue farm               until everything is built
#	dpl-status --queue farm             what is done, by whom, and what failed
#	dpl-enqueue farm --again TASK       try a failed one again
set -eu
cd "${1:?usage: farm.sh DIR}"
dpl-queue farm --create --slots 3 --max-attempts 3 --backoff 0,30s --halt-on dead:10

after='' sums=''
# shellcheck disable=SC2016 # the shell of the task expands it
for source in *.c; do
    sum=$(cat -- *.h "$source" 2>/dev/null | cksum)
    object=${source%.c}.o
    task=$(dpl-enqueue farm --key "$PWD/$object $sum" --timeout 10m -- \
        sh -c 'cc $2 -c -o "$0.$DPL_EPOCH" "$1" && mv "$0.$DPL_EPOCH" "$0"' \
        "$object" "$source" "${CFLAGS-}")
    after="$after --after $task" sums="$sums $sum"
done

# shellcheck disable=SC2016,SC2086 # $after is a list of flags
dpl-enqueue farm --key "$PWD/program $sums" $after --timeout 10m -- \
    sh -c 'cc -o "program.$DPL_EPOCH" *.o && mv "program.$DPL_EPOCH" program'
