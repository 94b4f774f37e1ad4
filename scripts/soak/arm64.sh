#!/bin/sh
# arm64.sh: run the tests of starts and keepers on an arm64 processor, which qemu plays.
#
# The keeper of package entry is in the processor's own language (cmd/internal/entry). It boots Debian's
# kernel with the test as its only program, which takes half a minute, and 20 seconds more the first
# time, when it downloads Debian and keeps it in $DPL_SOAK_CACHE (~/.cache/dpl-soak). qemu-user would
# not do: it has no subreapers. It needs the Debian packages qemu-system-arm, mmdebstrap and cpio.
set -eu
dir=$(mktemp -d "${TMPDIR:-/tmp}/dpl-arm64.XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' HUP INT TERM

die() {
    echo "arm64: $*" >&2
    exit 1
}

for program in qemu-system-aarch64 mmdebstrap cpio; do
    command -v "$program" >/dev/null ||
        die "no $program: apt-get install qemu-system-arm mmdebstrap cpio"
done

cache=${DPL_SOAK_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/dpl-soak}/bookworm-arm64.tar
if [ ! -e "$cache" ]; then
    mkdir -p "$(dirname "$cache")"
    mmdebstrap --quiet --architectures=arm64 --variant=extract \
        --include=dash,bash,coreutils,grep,procps,util-linux,mount,linux-image-cloud-arm64 \
        bookworm "$dir/new.tar" >"$dir/mmdebstrap" 2>&1 ||
        die "mmdebstrap: $(tail -n 5 "$dir/mmdebstrap")"
    mv "$dir/new.tar" "$cache"
fi

mkdir "$dir/root"
tar -xf "$cache" -C "$dir/root" --exclude=./usr/share --exclude=./lib/modules --exclude=./dev
mv "$dir"/root/boot/vmlinuz-* "$dir/kernel"
rm -rf "$dir/root/boot"
ln -sf dash "$dir/root/bin/sh"
mkdir -p "$dir/root/dev" "$dir/root/proc" "$dir/root/sys" "$dir/root/tmp"
echo 0123456789abcdef0123456789abcdef >"$dir/root/etc/machine-id"
CGO_ENABLED=0 GOARCH=arm64 go test -c -o "$dir/root/start.test" '-ldflags=-E dpl_entry' \
    ./cmd/internal/process/start

cat >"$dir/root/init" <<'INIT'
#!/bin/dash
export PATH=/bin:/usr/bin:/sbin:/usr/sbin HOME=/tmp DPL_TEST_ENTRY=1
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
cd /tmp
/start.test -test.timeout=5m -test.v -test.skip='^TestKeptFromEntry$' 2>&1
echo "arm64: exit status $?"
echo o >/proc/sysrq-trigger
sleep 60
INIT
chmod 755 "$dir/root/init"
(cd "$dir/root" && find . | cpio --quiet -o -H newc | gzip -1) >"$dir/initrd"

timeout 600 qemu-system-aarch64 -M virt -cpu max -smp 2 -m 2048 -nographic -no-reboot -nic none \
    -kernel "$dir/kernel" -initrd "$dir/initrd" -append 'console=ttyAMA0 quiet panic=-1 rdinit=/init' \
    </dev/null >"$dir/console" 2>&1 || die "qemu: $(tail -n 5 "$dir/console")"
if ! grep -q 'arm64: exit status 0' "$dir/console"; then
    tail -n 100 "$dir/console" >&2
    die 'the tests fail'
fi
passed=$(grep -c -- '--- PASS' "$dir/console")
echo "arm64: $passed tests pass"
