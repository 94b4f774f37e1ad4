#!/bin/sh
# sshfs.sh BIN COMMIT EDITS: the driver of sshfs, on two hosts. sshfs shares no locks, so DPL should
# refuse it.
set -u
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
# shellcheck source=scripts/shared/rig.sh
. "$here/rig.sh"
begin sshfs "$@"
need sshfs sshfs
need fusermount3 fuse3
sftp=/usr/lib/openssh/sftp-server
[ -x "$sftp" ] || left_out 'no sftp-server: apt-get install openssh-sftp-server'
isolate
hosts
mkdir "$dir/a" "$dir/b" "$dir/shared"

# sshfs runs this instead of ssh; it starts the server without a network.
printf '#!/bin/sh\nexec %s\n' "$sftp" >"$dir/ssh"
chmod 755 "$dir/ssh"
for host in a b; do
    nsenter --uts="$dir/uts-$host" \
        sshfs -o ssh_command="$dir/ssh" "any:$dir/shared" "$dir/$host" ||
        left_out "no mount on host $host"
done
work "$(sshfs --version | sed -n 's/^SSHFS version //p')" -zombies none -patience 2m
