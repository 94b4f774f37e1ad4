# shellcheck shell=sh
# program.sh WHAT: use dpl.sh in the way, or end in the way, that WHAT names, in any shell.
set -eu
# shellcheck disable=SC1091
. ./dpl.sh

# variables: print the names of all variables, except those that a shell changes by itself
variables() {
    own='^\(dpl_\|_\|[A-Z]*PIPESTATUS$\|pipestatus$\|LINENO$\|KSH_MATCH$\|own$\)'
    set | sed -n 's/^\([A-Za-z_][A-Za-z0-9_]*\)=.*/\1/p' | grep -v "$own" | sort
}
started() { touch started; while [ ! -e go ]; do sleep 0.02; done; }

if [ "$1" = 'own EXIT' ]; then
    # shellcheck disable=SC2154
    trap 'code=$?; echo "own $code it'\''s'\''"; exit $code' EXIT
fi
if [ "$1" = 'own EXIT of lines' ]; then
    trap 'cat <<-end
trap -- "x" TERM
trap -- it'\''s
end
' EXIT
fi
[ "$1" != 'own TERM' ] || trap 'echo told; exit 3' TERM
dpl_on_exit() { echo "cleaned up after $1"; }
case $1 in
unbegun) dpl_end && dpl_end 7 && exit ;;
inner)
    dpl_begin &&
        echo "$DPL_OP $DPL_PARTICIPANT $(dpl-status --json | grep -c '"startTime"')" && exit
    ;;
refused) dpl_begin --op over --lock-timeout 50ms || exit ;;
esac

variables >before
dpl_begin --op job --call main --tmp --interval 50ms --lock-timeout 50ms
case $1 in
arguments)
    # shellcheck disable=SC2016
    dpl_call print sh -c 'printf "<%s>" "$@" && touch "$0/x"' "$DPL_TMP" 'a  b' 'c
d' '*' '' '$x' "it's"
    ;;
'call fails') dpl_call bad sh -c 'exit 9' && echo 'not reached' ;;
'call fails, TERM before '*) # send TERM before that command, and keep $?: only bash can do that
    set +e
    # shellcheck disable=SC3041
    set -T
    # shellcheck disable=SC2064,SC2154,SC3047,SC3054
    trap "was[BASH_SUBSHELL]=\$? && case \$BASH_COMMAND in '${1#*before }'*)
        (kill -s TERM \$\$ && exit \${was[0]}) ;; esac" DEBUG
    dpl_call bad sh -c 'exit 9'
    : not reached
    ;;
'exits 7') exit 7 ;;
'may fail') dpl_call bad true || : && dpl_end && dpl_begin --op job2 --no-fail-on-crash && exit 7 ;;
'own EXIT' | 'own EXIT of lines') exit 7 ;;
'ends twice')
    DPL_TMP=$DPL_TMP/x && dpl_end && dpl_end 7
    echo "${DPL_OP-none} ${DPL_RUN-none} ${DPL_CALL-none} ${DPL_TMP-none}"
    variables >after
    diff before after
    ;;
'ends as failed') dpl_end 7 && exit ;;
'many times') dpl_end && for n in 1 2 3; do dpl_begin --op "job$n" --call main && dpl_end; done ;;
'waits') true & wait ;;
'begins twice') dpl_begin || exit ;;
'subshells')
    (dpl_end) || echo "subshell $?"
    (dpl_begin --call inner && echo "$DPL_CALL")
    echo text | { dpl_begin --call piped && cat && exit 0; } | cat
    echo "$DPL_CALL"
    ;;
'ends of an aborted operation')
    dpl_on_exit() { echo cleaned up; } # the status is 3 if it was told before its end, else 0
    dpl-abort --reason enough
    ;;
nested) dpl_call nested "$SHELL_UNDER_TEST" "$0" inner ;;
executes) exec env true ;;
*) started ;;
esac
