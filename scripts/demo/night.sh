# shellcheck shell=sh disable=SC2034,SC2154 # the other variables are in demo.sh
# night.sh: act 1 of demo.sh, which also plays it if it is asked for nothing else. It needs nothing
# but a shell and gzip.
#
# A nightly backup is a pipeline, and something kills it: first without DPL, then with it.

# backup_jobs writes the programs. The dump is slow as long as there is a file of that name.
backup_jobs() {
    cat >dump.sh <<'END'
#!/bin/sh
echo 'row 1'
echo $$ >pid
while [ -e slow ]; do sleep 0.1 2>/dev/null || sleep 1; done
echo 'row 2'
END
    cat >plain.sh <<'END'
./dump.sh | gzip | sh -c 'cat >part && mv part backup.gz'
END
    cat >nightly.sh <<'END'
dpl-run --call dump -- ./dump.sh |
    dpl-run --call pack -- gzip |
    dpl-run --call save -- sh -c 'cat >part && mv part backup.gz'
END
    chmod +x dump.sh
    DPL_LEDGER="$dir/nights" # act 2 makes a ledger that has a root for resources
}

# began COMMAND...: start a slow backup in the background, and wait until all of it runs
began() {
    rm -f pid
    : >slow
    typed "$* &"
    "$@" >said 2>&1 &
    child=$!
    workers="$workers $child"
    until_true 20 'the dump has begun' is_dumping "$1"
    dumper=$(cat pid)
}

is_dumping() {
    [ -s pid ] || return 1
    [ "$1" != dpl-run ] || [ "$(frames nightly | wc -w | tr -d ' ')" = 4 ]
}

# struck PID: kill a process, and wait for the end of the backup, whose exit status is then $status
struck() {
    {
        show 0 kill -KILL "$1"
        wait "$child"
        status=$?
    } 2>/dev/null # where sh is bash, it says "Killed"
    sed 's/^/   /' said
}

act_of_the_night() {
    backup_jobs
    printf 'A nightly backup: a dump, gzip, and a last stage that gives the result its name.\n'

    step 'Without DPL the dump is killed. gzip sees only the end of its input, and half a dump is' \
        'published.'
    began sh plain.sh
    struck "$dumper"
    check 'exit status of the pipeline' 0 "$status"
    printf '   %sexit status 0%s\n' "$faint" "$plain"
    show 0 gzip -dc backup.gz
    check 'what is published' 'row 1' "$out"
    rm backup.gz

    step 'With dpl-run before each stage, the others are stopped, and nothing is published.'
    show 0 cat nightly.sh
    began dpl-run --op nightly -- sh nightly.sh
    struck "$dumper"
    [ "$status" != 0 ] || die 'the backup succeeds without its dump'
    matches 'what the backup says' '*nightly*failed: *dump*' "$(cat said)"
    printf '   %sexit status %d%s\n' "$faint" "$status" "$plain"
    gone backup.gz

    step 'In the next night the first dpl-run is killed, so nobody is left to say anything.'
    began dpl-run --op nightly -- sh nightly.sh
    struck "$child"
    gone backup.gz

    step 'The next dpl-cleanup finds it. It prints one line, which cron mails to you.'
    until_true 20 'the dump has been stopped' is_gone "$dumper"
    show 0 dpl-cleanup
    matches 'the line' 'nightly: failed: *' "$out"
    check 'number of lines' 1 "$(wc -l <out | tr -d ' ')"
    show 0 dpl-cleanup
    check 'a second line' '' "$out"

    step 'What happened? dpl-status knows for days.'
    show 0 dpl-status nightly --runs
    matches 'the runs' '*failed*' "$out"

    step 'The next night runs, whatever was left of the night before.'
    rm slow
    show 0 dpl-run --op nightly -- sh nightly.sh
    show 0 gzip -dc backup.gz
    check 'what is published' 'row 1
row 2' "$out"
    unset DPL_OP
}

is_gone() { [ ! -e "/proc/$1" ]; }
