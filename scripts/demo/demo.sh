#!/bin/sh
# demo.sh BINDIR [--all|--list|ACT...] [--step]: show what DPL does when a process is killed, with
# the commands in BINDIR.
#
# It plays the first act, which takes a few seconds, or others. Each is about a part of DPL: in each,
# something is killed. On a terminal it makes a pause before each step; with --step it waits for a
# key. It checks everything that it shows: at the first difference the demo ends with status 1. With
# STRICT=1, a program that is missing (python3, node, cc) and would be replaced is also a failure.
# shellcheck disable=SC2034,SC2154 # the parts use and set the other variables
set -u

# acts: print each act's number, function and title
acts() {
    cat <<'END'
1 act_of_the_night A nightly backup is killed.
2 act_of_the_crash A worker is killed in the middle of its call.
3 act_of_success The same chain, and no worker is killed.
4 act_of_the_commands Ordinary commands as calls.
5 act_of_the_services Services that are restarted.
6 act_of_the_gang Services that live and die together.
7 act_of_the_tree A tree of two groups.
8 act_of_the_farm Twenty jobs go through a queue.
9 act_of_the_project An operator controls a project, and rules judge the work.
10 act_of_the_agents An agent asks before it acts.
END
}

# play ACT: play one act
play() {
    line=$(acts | grep "^$1 ") || die "$1: no such act: see dpl demo --list"
    act=$1 number=0 workers=
    unset DPL_OP DPL_GROUP
    DPL_LEDGER="$dir/ledger"
    printf '\n%sAct %s: %s%s\n' "$bold" "$1" "${line#* * }" "$plain"
    function=${line#* }
    "${function%% *}"
}

# settle BINDIR: prepare a directory and an environment
settle() {
    [ "$(uname -s)" = Linux ] ||
        die 'it needs Linux: elsewhere DPL does not know which process is which'
    bin=$(CDPATH='' cd -- "$1" && pwd -P) || die "$1: no such directory: run make first"
    for command in push pop heartbeat cleanup status run wait register orchestrate shutdown \
        enqueue queue check settle claim ask answer; do
        [ -x "$bin/dpl-$command" ] || die "$bin/dpl-$command: no such program: run make first"
    done
    for name in $(env | sed -n 's/^\(DPL_[A-Za-z0-9_]*\)=.*/\1/p'); do
        unset "$name"
    done
    unset INVOCATION_ID # in a unit of systemd, passes would ask systemd to start the services
    export PATH="$bin:$PATH"
    umask 077

    bold='' green='' red='' faint='' plain=''
    if [ -t 1 ] && [ -z "${NO_COLOR-}" ] && [ "${TERM:-dumb}" != dumb ]; then
        bold=$(printf '\033[1m') green=$(printf '\033[32m') red=$(printf '\033[31m')
        faint=$(printf '\033[2m') plain=$(printf '\033[0m')
    fi
    if [ -n "$stepping" ]; then
        exec 4</dev/tty || die '--step needs a terminal'
    elif [ -t 1 ]; then
        pace=1.5
    fi

    dir=$(mktemp -d "${TMPDIR:-/tmp}/dpl-demo.XXXXXX") || die 'no temporary directory'
    dir=$(CDPATH='' cd -- "$dir" && pwd -P)
    cd "$dir" || die "$dir: cannot go there"
    cp "$here"/worker.* "$here"/service.sh "$here"/life.sh . || die 'no workers'
    mkdir work
    export DPL_LEDGER="$dir/ledger"
}

# places: say where the acts take place, and make what they read the same everywhere
places() {
    export LC_ALL=C
    echo "The demo runs in a directory of its own, with a ledger that is deleted when it ends:"
    typed "cd $dir"
    typed "export PATH=$bin:\$PATH DPL_LEDGER=$dir/ledger"
}

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
for part in stage night chain calls groups gang tree farm project agents; do
    # shellcheck disable=SC1090 # make shell checks each on its own
    . "$here/$part.sh"
done

bindir=${1-} chosen='' act=
[ $# -gt 0 ] && shift
for word; do
    case $word in
    --all) chosen=$(acts | cut -d ' ' -f 1) ;;
    --list) acts | sed 's/ [^ ]*//' && exit ;;
    --step) stepping=1 ;;
    [0-9]*) chosen="$chosen $word" ;;
    *) bindir= ;;
    esac
done
[ -n "$bindir" ] || die 'usage: demo.sh BINDIR [--all|--list|ACT...] [--step]'
if [ -n "$stepping" ] && ! [ -t 1 ]; then
    echo 'demo: --step needs a terminal: leave it out' >&3
    exit 64
fi

settle "$bindir"
if [ -z "$chosen" ]; then
    act_of_the_night
    printf '\ndemo: all %d checks passed. See dpl demo --all for services, queues and agents.\n' \
        "$checks"
else
    places
    for each in $chosen; do
        play "$each"
    done
    printf '\ndemo: all %d checks passed\n' "$checks"
fi
