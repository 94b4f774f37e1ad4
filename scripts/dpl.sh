# shellcheck shell=sh
# dpl.sh: a shell script becomes a call of an operation. For dash, bash, busybox sh, zsh and mksh.
#
#     #!/bin/sh
#     set -eu
#     . /usr/local/share/dpl/dpl.sh
#     dpl_on_exit() { rm -rf "$work"; }       # if there is something to clean up
#     work=$(mktemp -d)
#     dpl_begin --op build --reuse --tmp      # this script is a call of build, until it ends
#     dpl_call compile ./compile main.c "$DPL_TMP/main.o"    # a call below it
#     dpl_call link ./link "$DPL_TMP/main.o"  # its status is that of ./link
#
# dpl_begin [FLAG...]     push a call, with any flags of dpl-push. The default is a call of $DPL_OP,
#                         or of a new operation, by a participant named after the script. Exports
#                         DPL_LEDGER, DPL_OP, DPL_RUN, DPL_CALL, DPL_PARTICIPANT and, with --tmp,
#                         DPL_TMP.
#                         A process in the background sends heartbeats until the shell ends.
# dpl_call NAME CMD...    run the program CMD as the call NAME (dpl-run --call NAME -- CMD...).
# dpl_end [STATUS]        pop the call now, as failed if STATUS is neither 0 nor absent, and restore
#                         the variables. Returns the status of dpl-pop; 3 if the call did not fail,
#                         and the operation was aborted or has failed; and 0 if no call is open.
# dpl_on_exit STATUS      define this function to clean up when the script ends inside the call.
#
# However the script ends, the call is popped: as failed unless the script exits 0. HUP, INT and TERM
# end the script: dpl_on_exit, pop, then death by that signal, which the caller of the script sees.
# When the operation is aborted or fails elsewhere, the script gets TERM, once, and then exits 3 (5:
# its call was declared crashed; 4: the operation is over). As always, a shell acts on a signal when
# the command that it waits for has ended. A command of dpl_call is stopped at once.
#
# Your traps: one on HUP, INT or TERM stays, so `trap 'exit 3' TERM` is enough. One on EXIT from
# before dpl_begin runs before the pop, in a subshell (so it cannot wait for jobs of the script, but
# dpl_on_exit can). One from after dpl_begin replaces that of dpl.sh: it must call dpl_end $?. An
# interactive shell keeps all traps except EXIT. In zsh, EXIT means the end of the shell from here
# on, also inside a function (POSIX_TRAPS).
#
# - kill -9: any pass finds the crash at once, and the heartbeats end with the shell. `wait` does not
#   wait for their process. An unset variable under set -u in zsh is the same, as no trap runs then.
# - exec: the program continues as the call, but does not pop it, so its end is a crash. Call dpl_end
#   before exec, or use dpl_call instead.
# - A subshell, such as a part of a pipeline, cannot end the call of its shell (64), but can begin
#   and end its own.
# - dpl_begin returns the status of dpl-push, so without set -e use `dpl_begin || exit`: 75 busy, 76
#   not running, and so on.

dpl_begin() {
    dpl_self=$(exec sh -c 'echo "$PPID"') || return # in a subshell $$ is its parent's
    if [ "${dpl_pid-}" = "$dpl_self" ]; then
        echo "dpl.sh: dpl_begin: $dpl_id: has begun already: end it first with dpl_end" >&2
        return 64
    fi
    dpl_name=$(basename -- "${ZSH_ARGZERO:-$0}" |
        LC_ALL=C sed 's/[^A-Za-z0-9._:-]/-/g; s/^[._:-]*//; s/\.\./--/g; s/^\(.\{60\}\).*/\1/')
    dpl_said=$(dpl-push --sh --participant "${dpl_name:-script}" --pid "$dpl_self" "$@") ||
        return
    case $dpl_said in
    'export DPL_'*) ;;
    *)
        printf '%s\n' "$dpl_said" >&2 # such as that of --help
        return 64
        ;;
    esac
    for dpl_name in LEDGER OP RUN CALL PARTICIPANT TMP HANDLE GROUP SERVICE SUPERVISOR QUEUE TASK EPOCH \
        ATTEMPT REASON SPEC LOG PREVIOUS SAME_ERROR EXIT_CODE EXIT_STATUS EXIT_REASON EXIT_DETAIL \
        RESTART_FILE; do
        eval "dpl_was_$dpl_name=\${DPL_$dpl_name-} dpl_had_$dpl_name=\${DPL_$dpl_name+yes}"
    done
    case $dpl_said in
    *'; unset '*) dpl_unset=" ${dpl_said##*; unset } " ;;
    *) dpl_unset='' ;;
    esac
    eval "$dpl_said"
    case " $* " in *' --no-fail-on-crash '*) dpl_fail='' ;; *) dpl_fail=yes ;; esac
    # shellcheck disable=SC2153
    dpl_pid=$dpl_self dpl_op=$DPL_OP dpl_id=$DPL_CALL dpl_ledger=$DPL_LEDGER
    dpl_every=$(dpl-status --op "$dpl_op" --json |
        sed -n 's/.*"heartbeatIntervalMs": \([0-9]*\).*/\1ms/p')
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
    else # every step keeps $?, because a trap may come after each
        dpl_calls=$(dpl_status=$? && echo "$dpl_status" && dpl__status "$dpl_status")
    fi
}

dpl_end() {
    [ -n "${dpl_pid-}" ] || return 0
    if [ "$dpl_pid" != "$(exec sh -c 'echo "$PPID"')" ]; then
        echo "dpl.sh: dpl_end: $dpl_id: this is a subshell: end it where it began" >&2
        return 64
    fi
    dpl__pop "${1:-0}" "exit status ${1:-0}" || :
    dpl__untrap
    return "$dpl_popped"
}

# dpl__beat starts to send heartbeats in the background, not as a child of this shell, and without
# its open files. If the script has ended before the first heartbeat, the message is of no use.
dpl__beat() {
    dpl_beat=$(
        trap '' HUP INT
        [ -z "${ZSH_VERSION-}" ] || setopt no_bg_nice
        DPL_LEDGER=$dpl_ledger dpl-heartbeat --op "$dpl_op" --call "$dpl_id" --pid "$dpl_pid" \
            --every "${dpl_every:-1500ms}" --while-pid "$dpl_pid" \
            ${dpl_signal:+--signal} ${dpl_signal:+"$dpl_signal"} \
            </dev/null >/dev/null 2>&1 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &
        echo "$!"
    )
}

# dpl__beats succeeds while heartbeats are sent. The process may have ended, and its pid may be
# another one's.
dpl__beats() {
    case $(cat "/proc/$dpl_beat/comm" 2>/dev/null || ps -o comm= -p "$dpl_beat" 2>/dev/null) in
    *dpl-heartbeat*) ;;
    *) return 1 ;;
    esac
}

# dpl__pop STATUS REASON pops the call, and forgets it. It tries three times, because a script that has
# done its work must not look crashed if the ledger is busy.
dpl__pop() {
    for dpl_name in 1 2 3; do
        dpl_popped=0
        if [ "$1" = 0 ] || [ -z "$dpl_fail" ]; then
            dpl_said=$(DPL_LEDGER=$dpl_ledger dpl-pop --json --op "$dpl_op" --call "$dpl_id" 2>&1) ||
                dpl_popped=$?
            case $dpl_popped,$1,$dpl_said in
            0,*'"state": "running"'* | 0,*'"state": "completed"'* | 0,[!0]*) ;;
            0,*)
                echo "dpl.sh: $dpl_op: $dpl_id: the operation was aborted, or has failed elsewhere" >&2
                dpl_popped=3
                ;;
            *)
                printf '%s\n' "$dpl_said" |
                    sed -n '/^[^{} ]/p; s/\\"/"/g; s/^ *"message": "\(.*\)",*$/dpl-pop: \1/p' >&2
                ;;
            esac
        else
            DPL_LEDGER=$dpl_ledger dpl-pop --op "$dpl_op" --call "$dpl_id" \
                --fail --reason "call $dpl_id: $2" || dpl_popped=$?
        fi
        [ "$dpl_popped" = 75 ] || break
    done
    if dpl__beats; then kill "$dpl_beat" 2>/dev/null || :; fi
    for dpl_name in LEDGER OP RUN CALL PARTICIPANT TMP HANDLE GROUP SERVICE SUPERVISOR QUEUE TASK EPOCH \
        ATTEMPT REASON SPEC LOG PREVIOUS SAME_ERROR EXIT_CODE EXIT_STATUS EXIT_REASON EXIT_DETAIL \
        RESTART_FILE; do
        if eval "[ -n \"\$dpl_had_$dpl_name\" ]"; then
            eval "DPL_$dpl_name=\$dpl_was_$dpl_name"
            # shellcheck disable=SC2163
            case $dpl_unset in *" DPL_$dpl_name "*) export "DPL_$dpl_name" ;; esac
        else
            unset "DPL_$dpl_name"
        fi
    done
    dpl_pid=''
    return "$dpl_popped"
}

# dpl__traps sets traps on the signals that the script has no trap on.
dpl__traps() {
    dpl_own='' dpl_signal='' dpl_mine='HUP INT TERM'
    # A subshell has no traps yet, though bash lists those of its parent. In dash $(trap) is empty.
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

# dpl__each_trap TRAPS calls dpl__trapped for each trap in the output of trap. The shell itself must
# parse that, because a trap may have lines that look like other traps. It does so with an alias,
# because in most shells no function can replace trap.
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

# dpl__untrap restores the script's own traps.
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
    case $1 in -*) # zsh hides the status of an exit in the script's trap under set -e
        dpl__leave 3 "exit in a trap"
        return
        ;;
    esac
    dpl__leave "$1" "exit status $1"
    [ "$1" != 0 ] || exit "$dpl_popped"
    exit "$1"
}

# dpl__signal SIGNAL NUMBER STATUS ends the script: by SIGNAL, or because of the state of the
# operation if TERM came for that. If the operation failed because of the script's own dpl_call, whose
# status is STATUS, the script exits as if it had not got the signal before it knew that status.
dpl__signal() {
    set +e
    trap '' HUP INT TERM
    trap - EXIT
    dpl_signal='' dpl_status=0
    dpl__beats || dpl__beat # it may have got the signal as well
    [ "$1" != TERM ] ||
        DPL_LEDGER=$dpl_ledger dpl-heartbeat --op "$dpl_op" --call "$dpl_id" --pid "$dpl_pid" ||
        dpl_status=$?
    dpl_self=$dpl_pid
    case $dpl_status in 3 | 4 | 5)
        case $3,${dpl_calls-} in 0,*) ;; *,yes | "$3,$3") dpl_status=$3 ;; esac
        echo "dpl.sh: $dpl_op: $dpl_id: aborted, in cleanup or over: exit $dpl_status" >&2
        DPL_LEDGER=$dpl_ledger \
            dpl-heartbeat --op "$dpl_op" --call "$dpl_id" --pid "$dpl_pid" --cleaning || :
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

# In zsh a trap on EXIT belongs to a function by default. Set it for the shell, with the present one.
if [ -n "${ZSH_VERSION-}" ]; then
    setopt posix_traps
    if dpl_file=$(mktemp); then
        trap >"$dpl_file"
        # shellcheck disable=SC1090
        . "$dpl_file"
        rm -f "$dpl_file"
    fi
fi
