# shellcheck shell=sh disable=SC2034,SC2154 # the other variables are in demo.sh
# scene.sh: the short demo, which demo.sh plays if it is asked for nothing else. It needs nothing
# but a shell.
#
# build.sh runs pack.sh, which runs encode.sh, each with dpl-run. pack.sh is killed.

# cast writes the programs. The first goes on when the second fails, as many scripts do.
cast() {
    cat >build.sh <<'END'
#!/bin/sh
dpl-run --call pack --resource work/film.mp4 -- ./pack.sh
sleep 60
END
    cat >pack.sh <<'END'
#!/bin/sh
dpl-run --call encode -- ./encode.sh
END
    cat >encode.sh <<'END'
#!/bin/sh
echo 'half a film' >work/film.mp4
exec sleep 60
END
    chmod +x build.sh pack.sh encode.sh
}

all_at_work() {
    [ -s work/film.mp4 ] && has_frames film 'build:active pack:active encode:active'
}

is_gone() { [ ! -e "/proc/$1" ]; }

scene() {
    number=0
    cast
    printf 'build.sh runs pack.sh, which runs encode.sh: each is started by dpl-run.\n'

    step 'dpl-status shows who works for whom. Half a film is written.'
    typed 'dpl-run --op film --call build --resource-root work -- ./build.sh &'
    dpl-run --op film --call build --resource-root work -- ./build.sh 2>said &
    child=$!
    workers=$child
    until_true 20 'three calls of film' all_at_work
    victim=$(pid_of film pack) callee=$(pid_of film encode)
    show 0 dpl-status --op film
    show 0 ls work
    check 'what is in work' film.mp4 "$out"

    step 'pack.sh is killed. It has no chance to say anything.'
    {
        show 0 kill -KILL "$victim"
        wait "$child"
        status=$?
    } 2>/dev/null # where sh is bash, it says "Killed"

    step 'The others learn of it with their next heartbeat: encode.sh and build.sh are stopped.'
    grep '^dpl-run' said | sort -u | sed 's/^/   /'
    matches 'what the others say' '*operation film failed: call pack crashed: exited*' "$(cat said)"
    check 'exit status of the first dpl-run' 3 "$status"
    printf '   %sexit status 3%s\n' "$faint" "$plain"
    until_true 20 'encode.sh has ended' is_gone "$callee"

    step 'The half-written film is gone. It was declared with --resource.'
    show 0 ls work
    check 'what is left in work' '' "$out"

    step 'Why? The ledger still knows in the morning.'
    show 0 dpl-status --op film --why pack
    matches 'why' '*active -> crashed, found by *: exited*' "$out"
    show 0 dpl-status --op film
    matches 'the end' 'film: failed, *' "$out"
}
