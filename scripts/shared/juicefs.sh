#!/bin/sh
# juicefs.sh BIN COMMIT EDITS [VARIANT]: the driver of JuiceFS, with redis, mounted on two hosts.
#
# VARIANT is default (JuiceFS caches names and attributes for a second), nocache (it does not), or
# cuts (default, and one host is cut off three times during the writes). The first run takes some
# minutes to build JuiceFS, and keeps it in $DPL_SOAK_CACHE (~/.cache/dpl-soak).
set -u
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
# shellcheck source=scripts/shared/rig.sh
. "$here/rig.sh"
begin juicefs "$@"
need redis-server redis
need fusermount3 fuse3

release=v1.3.1
cache=${DPL_SOAK_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/dpl-soak}
juicefs=$cache/juicefs-$release

# build: build JuiceFS from its sources, because go install refuses a module with replacements. The
# tags leave out most object stores.
build() {
    echo "juicefs: building $juicefs" >&2
    source=$(go mod download -json "github.com/juicedata/juicefs@$release" |
        sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
    [ -n "$source" ] || return 1
    cp -r "$source" "$dir/source" && chmod -R u+w "$dir/source" && mkdir -p "$cache" || return 1
    tags=nogateway,nowebdav,nocos,nobos,nohdfs,noibmcos,noobs,nooss,noqingstor,nosftp,noswift
    tags=$tags,noazure,nogs,noufile,nob2,nodragonfly,nonfs,nocifs,nomysql,nopg,notikv,nobadger
    tags=$tags,noetcd
    (cd "$dir/source" && go build -tags "$tags" -o "$dir/juicefs" .) && mv "$dir/juicefs" "$juicefs"
}

[ -x "$juicefs" ] || build || left_out "it could not be built"
isolate
hosts
network
caches='' cuts=0
case $variant in
nocache) caches='--entry-cache 0 --attr-cache 0 --dir-entry-cache 0' ;;
cuts) cuts=3 ;;
esac
meta=redis://10.99.0.1:6379/1
mkdir "$dir/a" "$dir/b" "$dir/redis" "$dir/objects"
redis-server --dir "$dir/redis" --bind 10.99.0.1 --protected-mode no --save '' --appendonly no \
    >"$dir/redis.log" 2>&1 &
await redis-cli -h 10.99.0.1 ping || left_out 'redis does not start'
"$juicefs" format --storage file --bucket "$dir/objects/" --trash-days 0 "$meta" soak \
    >"$dir/format.log" 2>&1 || left_out 'no format'

# client HOST ENTER: mount the volume on HOST
client() {
    # shellcheck disable=SC2086 # $2 and $caches are several words, or none
    $2 "$juicefs" mount --no-usage-report --heartbeat 2s --cache-dir "$dir/cache-$1" \
        $caches "$meta" "$dir/$1" >"$dir/mount-$1.log" 2>&1 &
    await mountpoint -q "$dir/$1" || left_out "no mount on host $1"
}
client a "$enter_a"
client b "$enter_b"
work "$release" -zombies pause,cut,late -cuts "$cuts" -patience 40m -cut "$cut" -heal "$heal"
