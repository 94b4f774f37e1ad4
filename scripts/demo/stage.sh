# shellcheck shell=sh disable=SC2034,SC2119,SC2120,SC2154 # demo.sh and acts have the others
# stage.sh: what the acts of demo.sh, which sources this file, show and check with.

checks=0
dir=
workers=
tries=0
pace=     # seconds before each step
stepping= # set: a key goes on
keys=     # the terminal as it was, while a key is read
exec 3>&2

# die TEXT...: print the act, the step and TEXT, and exit 1
die() {
    echo "demo: ${act:+act $act, step $number: }$*" >&3
    exit 1
}

# clean ends all that the demo has started, and removes its directory
clean() {
    trap '' HUP INT TERM
    [ -z "$keys" ] || stty "$keys" <&4
    for pid in $workers; do
        kill -KILL "$pid" 2>/dev/null
    done

    # A program that has just been started is seen only the next time.
    quiet=0
    while [ "$quiet" -lt 2 ] && [ "$((tries += 1))" -lt 50 ]; do
        quiet=$((quiet + 1))
        for pid in $(owned); do
            kill -KILL "$pid" 2>/dev/null
            quiet=0
        done
    done
    cd / || return
    rm -rf "$dir"
}

# owned [VARIABLE]: print the pids of all processes with a ledger of the demo in their environment,
# and VARIABLE=... if it is given
owned() {
    [ -n "$dir" ] || return 0
    for process in /proc/[0-9]*; do
        if [ -r "$process/environ" ] &&
            variables=$(tr '\0' '\n' 2>/dev/null <"$process/environ"); then
            case "
$variables
" in
            *"
DPL_LEDGER=$dir/"*) case $variables in *"${1-}"*) echo "${process#/proc/}" ;; esac ;;
            esac
        fi
    done 2>/dev/null
}

trap clean EXIT
trap 'exit 130' HUP INT TERM

# check WHAT WANT GOT: count a check, and end the demo if the two differ
check() {
    [ "$2" = "$3" ] || die "$1: want \"$2\", got \"$3\""
    checks=$((checks + 1))
}

# matches WHAT PATTERN TEXT: count a check, and end the demo if TEXT does not match
matches() {
    # shellcheck disable=SC2254 # $2 is a pattern
    case $3 in
    $2) checks=$((checks + 1)) ;;
    *) die "$1: want \"$2\", got \"$3\"" ;;
    esac
}

there() {
    for path; do
        [ -e "$path" ] || die "$path: want it there, it is gone"
        checks=$((checks + 1))
    done
}

gone() {
    for path; do
        [ ! -e "$path" ] || die "$path: want it gone, it is there"
        checks=$((checks + 1))
    done
}

# breathe lets the reader read: for a moment, or until a key is pressed
breathe() {
    if [ -n "$stepping" ]; then
        printf '%s   space: go on, q: quit %s' "$faint" "$plain"
        press
        printf '\r                         \r'
        [ "$key" != q ] || exit 0
    elif [ -n "$pace" ]; then
        sleep "$pace" 2>/dev/null || sleep 1
    fi
}

# press reads a key from the terminal to $key: space and enter are "", and all others but q nothing
press() {
    keys=$(stty -g <&4) || die '--step cannot set up the terminal'
    stty -icanon -echo min 1 time 0 <&4
    until
        key=$(dd bs=1 count=1 <&4 2>/dev/null)
        case $key in '' | ' ' | q) true ;; *) false ;; esac
    do :; done
    stty "$keys" <&4
    keys=
}

# step TEXT...: show the heading of the next step
step() {
    number=$((number + 1))
    [ "$number" = 1 ] || breathe
    printf '\n%s' "$bold"
    echo "$number. $*" | fold -s -w 78 | sed -e '2,$s/^/   /' -e 's/ *$//'
    printf '%s' "$plain"
}

# typed TEXT...: show a command line
typed() { printf '   %s$ %s%s\n' "$green" "$*" "$plain"; }

# show STATUS COMMAND...: as run does, with colours and without the exit status
show() {
    want=$1
    shift
    typed "$@"
    "$@" >out 2>&1
    got=$?
    out=$(cat out)
    sed -e 's/^/   /' -e 's/ *$//' -e "s/ alive\$/ ${green}alive$plain/" \
        -e "s/ active / ${green}active$plain /" -e "s/: failed,/: ${red}failed$plain,/" \
        -e "s/crashed: its process is gone\$/${red}&$plain/" out
    check "exit status of $*" "$want" "$got"
}

# run STATUS COMMAND...: show and run COMMAND, store its output in $out, and check its exit status
run() {
    want=$1
    shift
    typed "$@"
    "$@" >out 2>&1
    ended $? "$*"
}

# ended GOT NAME: show the file out and the status GOT, and check that it is $want
ended() {
    out=$(cat out)
    sed -e 's/^/   /' -e 's/ *$//' out
    printf '   %sexit status %d%s\n' "$faint" "$1" "$plain"
    check "exit status of $2" "$want" "$1"
}

# until_true SECONDS WHAT COMMAND...: run COMMAND until it succeeds, for at most SECONDS
until_true() {
    deadline=$(($(date +%s) + $1))
    what=$2
    shift 2
    until "$@"; do
        [ "$(date +%s)" -lt $deadline ] || die "$what: timed out"
        sleep 0.02 2>/dev/null || sleep 1
    done
    checks=$((checks + 1))
}

