# shellcheck shell=sh
# dpl.sh: a shell script takes part in a call chain. For dash, bash, busybox sh, zsh and mksh.
#
#     #!/bin/sh
#     set -eu
#     . /usr/local/share/dpl/dpl.sh
#     dpl_on_exit() { rm -rf "$work"; }                 # if there is something to clean up
#     work=$(mktemp -d)
#     dpl_begin --op build-42 --tmp                     # this script is a call of build-42, until it ends
#     dpl_call compile ./compile main.c "$DPL_TMP/main.o"   # a call below it; its status is that of ./compile
#     dpl_call link ./link "$DPL_TMP/main.o"
#
# dpl_begin [FLAG...]     push a call, with any flags of dpl-push; by default of $DPL_OP, else of a new operation, and by
#                         a participant that is called as the script. Exports DPL_LEDGER DPL_OP DPL_CALL
#                         DPL_PARTICIPANT, with --tmp DPL_TMP. Something beats for it as long as the shell lives.
# dpl_call NAME CMD...    run the program CMD as the call NAME (dpl-run --call NAME -- CMD...).
# dpl_end [STATUS]        pop the call now: as failed unless STATUS is 0 (the default), or absent. Nothing is to be done
#                         where nothing is open. The variables are as before dpl_begin. Returns the status of dpl-pop.
# dpl_on_exit STATUS      a function of yours, if there is one; called when the script ends inside the call.
#
# However the script ends, the call is popped: as failed unless it exits 0. HUP, INT and TERM end it: dpl_on_exit, pop, and
# then death by that signal, which is what the caller sees. When the operation is aborted or fails elsewhere, the script
# gets TERM, once, and exits 3 after that (5: its call was declared crashed; 4: it is over). As ever, a shell acts on a
# signal when the command that it waits for has ended; one that was begun by dpl_call is stopped at once.
#
# Your traps: one on HUP, INT or TERM is left alone, so that `trap 'exit 3' TERM` is enough. One on EXIT from before
# dpl_begin is run before the pop, in a subshell (so it cannot wait for the script's jobs: dpl_on_exit can).
# One from after dpl_begin takes the place of dpl.sh's: it must call dpl_end $?. An interactive shell keeps all but EXIT.
# In zsh, EXIT means the shell's end from here on, also in a function (POSIX_TRAPS).
#
# - kill -9: any pass finds the crash at once; the beats end with the shell. `wait` does not wait for them. The same comes of
#   an unset variable under set -u in zsh, which runs no trap then.
# - exec: the program goes on as the call, but nobody pops: its end is a crash. Say dpl_end before, or dpl_call instead.
# - A subshell, as in a pipeline, cannot end the call of its shell (64), but may begin one of its own, with its own end.
# - dpl_begin returns the status of dpl-push, so `dpl_begin || exit` without set -e: 75 busy, 76 not running, and so on.

dpl_begin() {
    dpl_self=$(exec sh -c 'echo "$PPID"') || return # not $$, which in a subshell is its parent's
    if [ "${dpl_pid-}" = "$dpl_self" ]; then
        echo "dpl.sh: dpl_begin: $dpl_id: has begun already: end it first by dpl_end" >&2
        return 64
    fi
    dpl_name=$(basename -- "${ZSH_ARGZERO:-$0}" | LC_ALL=C sed 's/[^A-Za-z0-9._:-]/-/g; s/^[._:-]*//; s/\.\./--/g; s/^\(.\{60\}\).*/\1/')
    dpl_said=$(dpl-push --sh --participant "${dpl_name:-script}" --pid "$dpl_self" "$@") || return
    case $dpl_said in
    'export DPL_'*) ;;
    *)
        printf '%s\n' "$dpl_said" >&2 # as that of --help
        return 64
        ;;
    esac
    for dpl_name in LEDGER OP CALL PARTICIPANT TMP; do
        eval "dpl_was_$dpl_name=\${DPL_$dpl_name-} dpl_had_$dpl_name=\${DPL_$dpl_name+yes}"
    done
    eval "$dpl_said"
    case " $* " in *' --no-fail-on-crash '*) dpl_fail='' ;; *) dpl_fail=yes ;; esac
    # shellcheck disable=SC2153
    dpl_pid=$dpl_self dpl_op=$DPL_OP dpl_id=$DPL_CALL dpl_ledger=$DPL_LEDGER
    dpl_every=$(dpl-status --op "$dpl_op" --json | sed -n 's/.*"heartbeatIntervalMs": \([0-9]*\).*/\1ms/p')
    dpl__traps
    dpl__beat
}

dpl_call() {
    if [ $# -lt 2 ]; then
        echo "dpl.sh: dpl_call: want NAME COMMAND [ARG...]" >&2
        return 64
    fi
    dpl_name=$1 dpl_calls=yes
    shift
    if dpl-run --call "$dpl_name" -- "$@"; then
        dpl_calls=''
    else # $? stays what it is at every step, for a trap may come after each
        dpl_calls=$(dpl_status=$? && echo "$dpl_status" && dpl__status "$dpl_status")
    fi
}

dpl_end() {
    [ -n "${dpl_pid-}" ] || return 0
    if [ "$dpl_pid" != "$(exec sh -c 'echo "$PPID"')" ]; then
        echo "dpl.sh: dpl_end: $dpl_id: this is a subshell: end it where it has begun" >&2
        return 64
    fi
    dpl__pop "${1:-0}" "exit status ${1:-0}" || :
    dpl__untrap
    return "$dpl_popped"
}

# dpl__beat begins to beat in the background, as no child of this shell, and without the files that it has open. Where the
# script has ended before the first beat, nobody wants to read that.
dpl__beat() {
    dpl_beat=$(
        trap '' HUP INT
        [ -z "${ZSH_VERSION-}" ] || setopt no_bg_nice
        DPL_LEDGER=$dpl_ledger dpl-heartbeat --op "$dpl_op" --call "$dpl_id" --pid "$dpl_pid" --every "${dpl_every:-1500ms}" \
            --while-pid "$dpl_pid" ${dpl_signal:+--signal} ${dpl_signal:+"$dpl_signal"} \
            </dev/null >/dev/null 2>&1 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &
        echo "$!"
    )
}

# dpl__beats asks whether the beats go on; the process that had their number might have ended long ago.
dpl__beats() {
    case $(cat "/proc/$dpl_beat/comm" 2>/dev/null || ps -o comm= -p "$dpl_beat" 2>/dev/null) in
    *dpl-heartbeat*) ;;
    *) return 1 ;;
    esac
}

# dpl__pop STATUS REASON pops the call, and forgets it. A script that has done its work is not to be taken for dead only
# because the ledger is busy.
dpl__pop() {
    for dpl_name in 1 2 3; do
        dpl_popped=0
        if [ "$1" = 0 ] || [ -z "$dpl_fail" ]; then
            DPL_LEDGER=$dpl_ledger dpl-pop --op "$dpl_op" --call "$dpl_id" || dpl_popped=$?
        else
            DPL_LEDGER=$dpl_ledger dpl-pop --op "$dpl_op" --call "$dpl_id" --fail --reason "call $dpl_id: $2" || dpl_popped=$?
        fi
        [ "$dpl_popped" = 75 ] || break
    done
    if dpl__beats; then kill "$dpl_beat" 2>/dev/null || :; fi
    for dpl_name in LEDGER OP CALL PARTICIPANT TMP; do
        if eval "[ -n \"\$dpl_had_$dpl_name\" ]"; then
            eval "DPL_$dpl_name=\$dpl_was_$dpl_name"
        else
            unset "DPL_$dpl_name"
        fi
    done
    dpl_pid=''
    return "$dpl_popped"
}

# dpl__traps sets the traps, but on those signals that the script has one on.
dpl__traps() {
    dpl_own='' dpl_signal='' dpl_mine='HUP INT TERM'
    # A subshell has no traps of its own yet, though bash lists those of its parent. $(trap) tells nothing in dash.
    if [ "$dpl_pid" = "$$" ] && dpl_file=$(mktemp); then
        trap >"$dpl_file"
        dpl__each_trap "$(cat "$dpl_file")"
        rm -f "$dpl_file"
    fi
    trap 'dpl__exit "$?"' EXIT
    case $- in *i*)
        dpl_mine=''
        return
        ;;
    esac
    dpl_signal=TERM
    case $dpl_mine in *HUP*) trap 'dpl__signal HUP 1 "$?"' HUP ;; esac
    case $dpl_mine in *INT*) trap 'dpl__signal INT 2 "$?"' INT ;; esac
    case $dpl_mine in *TERM*) trap 'dpl__signal TERM 15 "$?"' TERM ;; esac
}

# dpl__each_trap TRAPS calls dpl__trapped for each of what trap has printed. The shell itself reads that, as a trap may have
# lines that look like others; and trap is an alias meanwhile, for in most shells no function can take its place.
dpl__each_trap() {
    dpl_aliases=yes
    # shellcheck disable=SC3044
    if [ -n "${BASH_VERSION-}" ] && ! shopt -q expand_aliases; then
        dpl_aliases=''
        shopt -s expand_aliases
    fi
    alias trap=dpl__trapped
    eval "$1"
    unalias trap
    # shellcheck disable=SC3044
    [ -n "$dpl_aliases" ] || shopt -u expand_aliases
}

# dpl__trapped -- COMMAND SIGNAL notes a trap of the script.
dpl__trapped() {
    shift
    case $2 in
    EXIT) dpl_own=$1 ;;
    *HUP) dpl_mine=${dpl_mine%HUP*}${dpl_mine#*HUP} ;;
    *INT) dpl_mine=${dpl_mine%INT*}${dpl_mine#*INT} ;;
    *TERM) dpl_mine=${dpl_mine%TERM*}${dpl_mine#*TERM} ;;
    esac
}

# dpl__untrap gives the script back the traps that it had.
dpl__untrap() {
    case $dpl_mine in *HUP*) trap - HUP ;; esac
    case $dpl_mine in *INT*) trap - INT ;; esac
    case $dpl_mine in *TERM*) trap - TERM ;; esac
    trap - EXIT
    # shellcheck disable=SC2064
    [ -z "$dpl_own" ] || trap "$dpl_own" EXIT
}

dpl__exit() {
    set +e
    trap '' HUP INT TERM
    trap - EXIT
    case $1 in -*) # zsh knows the status of an exit in the script's trap under set -e, but does not tell it
        dpl__leave 3 "exit in a trap"
        return
        ;;
    esac
    dpl__leave "$1" "exit status $1"
    [ "$1" != 0 ] || exit "$dpl_popped"
    exit "$1"
}

# dpl__signal SIGNAL NUMBER STATUS ends the script by SIGNAL, or, if that told it so, because of what became of the
# operation. If that is the failure of its own dpl_call, with STATUS, it exits as if it had not been told before it knew.
dpl__signal() {
    set +e
    trap '' HUP INT TERM
    trap - EXIT
    dpl_signal='' dpl_status=0
    dpl__beats || dpl__beat # it got the signal, too
    [ "$1" != TERM ] || DPL_LEDGER=$dpl_ledger dpl-heartbeat --op "$dpl_op" --call "$dpl_id" --pid "$dpl_pid" || dpl_status=$?
    dpl_self=$dpl_pid
    case $dpl_status in 3 | 4 | 5)
        case $3,${dpl_calls-} in 0,*) ;; *,yes | "$3,$3") dpl_status=$3 ;; esac
        echo "dpl.sh: $dpl_op: $dpl_id: aborted, in cleanup or over: exit $dpl_status" >&2
        DPL_LEDGER=$dpl_ledger dpl-heartbeat --op "$dpl_op" --call "$dpl_id" --pid "$dpl_pid" --cleaning || :
        dpl__leave "$dpl_status" "exit status $dpl_status"
        exit "$dpl_status"
        ;;
    esac
    dpl__leave $((128 + $2)) "killed by $1"
    trap - "$1"
    kill -s "$1" "$dpl_self"
    exit $((128 + $2))
}

# dpl__leave STATUS REASON cleans up and pops.
dpl__leave() {
    if command -v dpl_on_exit >/dev/null 2>&1; then dpl_on_exit "$1"; fi
    if [ -n "$dpl_own" ]; then
        (
            dpl__status "$1"
            eval "$dpl_own"
        )
    fi
    dpl__pop "$1" "$2"
}

dpl__status() { return "$1"; }

# In zsh a trap on EXIT belongs to a function, unless told otherwise; also the one that there is is to be the shell's.
if [ -n "${ZSH_VERSION-}" ]; then
    setopt posix_traps
    if dpl_file=$(mktemp); then
        trap >"$dpl_file"
        # shellcheck disable=SC1090
        . "$dpl_file"
        rm -f "$dpl_file"
    fi
fi
