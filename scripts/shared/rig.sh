# rig.sh: functions of the drivers. A driver sources it, and calls begin first.
#
# shellcheck shell=sh disable=SC2034,SC2154 # the driver reads the variables, and sets here

# begin NAME BIN COMMIT EDITS [VARIANT]: set name, bin, commit, edits and variant, and make the
# directory dir for this run, with workload in it. When the driver ends, delete the directory and
# stop everything that was started. With queues: before VARIANT, a queue is used, for EDITS seconds;
# DPL_PARTS may leave out something of crowd,handover,histories.
begin() {
    name=$1
    [ $# -ge 4 ] || {
        echo "usage: $name.sh BIN COMMIT EDITS [VARIANT]" >&2
        exit 64
    }
    bin=$(CDPATH='' cd -- "$2" && pwd -P) || exit 64
    commit=$3 edits=$4 asked=${5:-default} variant=$asked started='' isolated='' what=run
    parts=${DPL_PARTS:-crowd,handover,histories}
    case $variant in
    queues:*) what=queues variant=${variant#queues:} ;;
    esac
    [ "$(id -u)" = 0 ] || left_out 'needs root'
    need nsenter util-linux
    need strace strace
    if [ -n "${DPL_SHARED_DIR:-}" ]; then
        dir=$DPL_SHARED_DIR workload=$DPL_SHARED_DIR/workload
        return
    fi
    dir=$(mktemp -d "${TMPDIR:-/tmp}/dpl-shared.XXXXXX") || exit 1
    trap end EXIT
    trap 'exit 130' HUP INT TERM
    workload=$dir/workload
    (cd "$here/../.." && CGO_ENABLED=0 go build -o "$workload" ./scripts/shared/workload) || exit 1
}

end() {
    status=$?
    trap '' HUP INT TERM EXIT
    [ -z "$started" ] || kill -TERM "$started" 2>/dev/null

    # unshare ignores every other signal, and all its processes die with it.
    [ -z "$isolated" ] || kill -KILL "$isolated" 2>/dev/null
    wait
    rm -rf --one-file-system "$dir"
    exit "$status"
}

# isolate: continue in namespaces of its own, where daemons, mounts and ports disturb no other
# program, and end with the driver
isolate() {
    if [ -n "${DPL_SHARED_DIR:-}" ]; then
        ip link set lo up
        return
    fi
    DPL_SHARED_DIR=$dir unshare --net --mount --pid --fork --mount-proc --kill-child \
        sh "$0" "$bin" "$commit" "$edits" "$asked" </dev/null &
    isolated=$!
    wait "$isolated"
    exit "$?"
}

# hosts: make two host names. To run a command on host a or b, put $enter_a or $enter_b before it.
hosts() {
    for host in a b; do
        : >"$dir/uts-$host"
        unshare --uts="$dir/uts-$host" hostname "host$host" || exit 1
    done
    enter_a="nsenter --uts=$dir/uts-a" enter_b="nsenter --uts=$dir/uts-b"
}

# boots: give each host a boot id of its own, when all is mounted: with that of the other, it would
# compare their clocks.
boots() {
    boot "$dir/boot-a" || left_out 'no boot id of its own'
    enter_a="$enter_a --mount=$entered"
    boot "$dir/boot-b" || left_out 'no boot id of its own'
    enter_b="$enter_b --mount=$entered"
}

# boot FILE: set entered to a mount namespace with another boot id, which is in FILE. A process keeps
# it: the kernel may not let a file do that (mount(2): EINVAL).
boot() {
    cat /proc/sys/kernel/random/uuid >"$1"
    # shellcheck disable=SC2016 # $1 is that of the inner shell
    unshare --mount sh -c 'mount --bind "$1" /proc/sys/kernel/random/boot_id &&
        : >"$1.done" && exec sleep 100000' - "$1" &
    entered=/proc/$!/ns/mnt
    await test -e "$1.done"
}

# network: give host a a network of its own, with a route to 10.99.0.1, the address of the servers.
# The commands $cut and $heal disconnect and reconnect it, and keep its routes.
network() {
    mkdir -p "$dir/run"
    mount --bind "$dir/run" /run || left_out 'no /run of its own'
    ip netns add a || left_out 'no network namespace'
    ip address add 10.99.0.1/24 dev lo
    ip link add srv type veth peer name eth0 netns a || left_out 'the kernel has no veth'
    ip address add 10.99.1.1/24 dev srv
    ip link set srv up
    ip -n a address add 10.99.1.2/24 dev eth0
    ip -n a link set lo up
    ip -n a link set eth0 up
    ip -n a route add default via 10.99.1.1
    enter_a="$enter_a --net=/run/netns/a" cut='ip link set srv down' heal='ip link set srv up'
}

# work VERSION ARGUMENTS...: run the workload on the directories $dir/a and $dir/b
work() {
    version=$1
    shift
    [ "$what" = run ] || boots
    "$workload" "$what" -name "$name" -version "$version" -options "$variant" -commit "$commit" \
        -edits "$edits" -period "${edits}s" \
        -parts "$parts" -scratch "$dir" \
        -a "$dir/a" -enter-a "$enter_a" -b "$dir/b" -enter-b "$enter_b" "$@" "$bin"
}

# await COMMAND...: run COMMAND until it succeeds, for at most a minute
await() {
    deadline=$(($(date +%s) + 60))
    until "$@" >/dev/null 2>&1; do
        [ "$(date +%s)" -lt "$deadline" ] || return 1
        sleep 0.2
    done
}

# left_out REASON: print a result that says why the file system was left out, and exit 0
left_out() {
    printf 'RESULT {"FS":"%s","Options":"%s","Commit":"%s","Left":"left out: %s"}\n' \
        "$name" "${variant:-}" "${commit:-}" "$1"
    exit 0
}

# need PROGRAM PACKAGE: leave the file system out if PROGRAM is missing
need() {
    command -v "$1" >/dev/null || left_out "no $1: apt-get install $2"
}
