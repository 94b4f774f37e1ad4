#!/bin/sh
# podman.sh BIN: try spec/containers.md with podman, crun, and the commands in BIN.
#
# It builds the images of the page, and stops, kills, freezes, restarts and replaces containers at one
# ledger. It needs root, podman, crun, and a static busybox, which takes the place of Debian if there
# is no debian:stable-slim. Without podman-compose it leaves out compose.yaml. It takes two minutes,
# prints a line for each claim, and exits 1 if one does not hold.
set -u
here=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd -P)
[ $# = 1 ] || {
    echo 'usage: podman.sh BIN' >&2
    exit 64
}
bin=$(CDPATH='' cd -- "$1" && pwd -P) || exit 64

# crun wants one version of cgroups, so a mount of the other one is hidden.
if [ -z "${DPL_INSIDE-}" ]; then
    DPL_INSIDE=1 exec unshare --mount sh -c 'umount /sys/fs/cgroup/unified 2>/dev/null
        exec sh "$@"' sh "$0" "$bin"
fi

real=$(command -v podman) || {
    echo 'podman.sh: no podman' >&2
    exit 1
}
dir=$(mktemp -d /tmp/dpl-podman.XXXXXX) || exit 1
mkdir "$dir/ledger" "$dir/tools" && chmod 755 "$dir" && cd "$dir" || exit 1
export PATH="$dir/tools:$bin:$PATH" DPL_LEDGER="$dir/ledger"
failed=0

# podman with a store of its own, without the limits that a machine may not raise.
cat >tools/podman <<EOF
#!/bin/sh
set -- "\$@"
case \$1 in
run) shift && set -- run --ulimit nofile=1024:1024 --ulimit nproc=4096:4096 "\$@" ;;
esac
exec $real --root $dir/store --runroot $dir/run --log-level error --runtime crun \\
    --cgroup-manager cgroupfs "\$@"
EOF
# podman run with the ledger
cat >tools/run <<EOF
#!/bin/sh
exec podman run --network none -v $dir/ledger:/ledger "\$@"
EOF
chmod +x tools/podman tools/run

# shellcheck disable=SC2317 # called by trap
tidy() {
    podman rm -fa -t 0 >/dev/null 2>&1
    umount "$dir/store/overlay" 2>/dev/null
    rm -rf --one-file-system "$dir"
}
trap tidy EXIT
trap 'exit 130' HUP INT TERM

# claim TEXT COMMAND...: COMMAND must succeed within half a minute
claim() {
    text=$1 tries=0
    shift
    until "$@" >said 2>&1; do
        tries=$((tries + 1))
        if [ $tries = 60 ]; then
            echo "NOT $text: $*"
            cat said
            failed=1
            return
        fi
        sleep 0.5
    done
    echo "ok  $text"
}

# shellcheck disable=SC2317 # claim calls them
status_of() { podman inspect "$1" --format '{{.State.Status}} {{.State.ExitCode}}'; }
# shellcheck disable=SC2317
ended() { [ "$(status_of "$1")" = "exited $2" ]; }
# shellcheck disable=SC2317
why() { dpl-status --op "$1" --why "$2" | grep -q "$3"; }

# block LANGUAGE N: print the Nth block of the page in a language
block() {
    awk -v fence="\`\`\`$1" -v n="$2" '$0 == fence { inside = ++found == n; next }
        $0 == "```" { inside = 0 } inside' "$here/spec/containers.md"
}

# The images of the page.
mkdir bin && cp -a "$bin"/. bin/
mkdir -p base/bin && cp "$(command -v busybox)" base/bin/ && for name in sh sleep cat true; do
    ln -s busybox "base/bin/$name"
done
podman image exists docker.io/library/debian:stable-slim ||
    tar -C base -c . | podman import - docker.io/library/debian:stable-slim >/dev/null 2>&1
block dockerfile 1 >Containerfile
block dockerfile 2 >Containerfile.scratch
claim 'FROM debian builds' podman build -q -t dpl .
claim 'FROM scratch builds' podman build -q -t dpl-scratch -f Containerfile.scratch .
claim 'FROM scratch runs' run --rm dpl-scratch -- /bin/dpl-status
claim 'everything but the ledger read-only, a user without a name' run --rm --read-only \
    --read-only-tmpfs=false -u 12345 -e DPL_LEDGER=/shm/ledger --tmpfs /shm:mode=1777 dpl-scratch \
    -- /bin/dpl-doctor

# Stopped, killed.
run -d --name one dpl --op stop --call one -- sleep 1000 >/dev/null
run -d --name two dpl --op stop --call two -- sleep 1000 >/dev/null
claim 'the host sees both calls' dpl-wait --op stop --ready one --ready two
claim 'judged by heartbeats' why stop one 'judged by .*another host, or in a container'
claim 'stop' podman stop -t 30 one
claim 'it ends as its command' ended one 143
claim 'the other learns that' ended two 3
run -d --name three dpl --op kill --call three -- sleep 1000 >/dev/null
claim 'the third runs' dpl-wait --op kill --ready three
podman kill -s KILL three >/dev/null
claim 'killed: stale' sh -c 'dpl-cleanup; dpl-status --op kill --check failed'

# Frozen for longer than the threshold, while the host looks.
dpl-push --op freeze --call host --participant host --pid $$ >/dev/null
run -d --name four dpl --op freeze --call four -- sleep 1000 >/dev/null
claim 'the fourth runs' dpl-wait --op freeze --ready four
podman pause four >/dev/null
claim 'frozen: stale' sh -c 'dpl-cleanup; ! dpl-status --op freeze --check running'
podman unpause four >/dev/null
claim 'it learns that when it goes on' ended four 5

# A restart policy.
run -d --name five --restart on-failure:3 dpl -- sh -c 'exit 9' >/dev/null
claim 'restarted until it is enough' ended five 9

# One process space for the host and containers.
touch machine-id && cat /etc/machine-id >machine-id 2>/dev/null
run -d --name six --pid host --uts host -v "$dir/machine-id:/etc/machine-id:ro" dpl \
    --op share --call six -- sleep 1000 >/dev/null
claim 'the sixth runs' dpl-wait --op share --ready six
claim 'judged by its process' why share six 'judged by .*its process'
podman kill -s KILL six >/dev/null
claim 'killed: exited at once' sh -c 'dpl-cleanup; grep -q exited '"$dir"'/ledger/operations/share.json'

# A user namespace.
mkdir mapped && chown 100000:100000 mapped
claim 'the user of a user namespace' run --rm --uidmap 0:100000:65536 --gidmap 0:100000:65536 \
    -v "$dir/mapped:/volume" -e DPL_LEDGER=/volume/ledger dpl -- dpl-doctor
claim 'a ledger of an owner that it does not have' sh -c "chmod -R go+rX ledger
    run --rm --uidmap 0:100000:65536 --gidmap 0:100000:65536 dpl -- true 2>&1 |
    grep 'a user that this container does not have'"

# The root of a container.
claim 'a ledger in the root of a container that is removed: no fsync' sh -c \
    "run --rm -e DPL_LEDGER=/own dpl -- dpl-doctor | grep 'fsync does nothing'"

# Workers of a queue.
dpl-queue build --create --max-attempts 2 --backoff 0
# shellcheck disable=SC2016 # the worker expands it
dpl-enqueue build --id long --dir / -- sh -c '[ "$DPL_ATTEMPT" = 2 ] || sleep 1000' >/dev/null
run -d --name w1 --entrypoint dpl-work dpl build --follow >/dev/null
claim 'a worker claims a task' sh -c 'dpl-status --queue build | grep -q "^long .*alive"'
run -d --name w2 --entrypoint dpl-work dpl build --follow >/dev/null
podman kill -s KILL w1 >/dev/null
claim 'killed: another worker does it' dpl-wait --queue build --task long --timeout 25s
dpl-enqueue build --id stopped --dir / -- sleep 1000 >/dev/null
claim 'it claims the next' sh -c 'dpl-status --queue build | grep -q "^stopped .*alive"'
podman stop -t 30 w2 >/dev/null
claim 'stopped: released, no failure' sh -c 'dpl-status --queue build --why stopped | grep -i released'

# compose.yaml
dpl-enqueue build --cancel stopped >/dev/null
if command -v podman-compose >/dev/null; then
    block yaml 1 >compose.yaml
    # podman run without a network of the project's own, which needs more than podman and crun
    cat >tools/podman-alone <<'EOF'
#!/bin/sh
for word in "$@"; do
    shift
    case $word:${skip-} in
    --net:* | --network-alias:*) skip=1 ;;
    *:1) skip= ;;
    *) set -- "$@" "$word" ;;
    esac
done
[ "$1" != run ] || { shift && set -- run --network none "$@"; }
exec podman "$@"
EOF
    chmod +x tools/podman-alone
    claim 'compose.yaml' podman-compose --podman-path "$dir/tools/podman-alone" up -d
    dpl-enqueue build --id a --dir / -- true >/dev/null
    claim 'its workers do a task' dpl-wait --queue build --task a --timeout 25s
else
    echo '-   compose.yaml: no podman-compose'
fi
exit $failed
