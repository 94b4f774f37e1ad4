#!/bin/sh
# local.sh BIN COMMIT EDITS: the driver of a local directory, the control: it must lose nothing,
# whether it commits by link or by rename.
set -u
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
# shellcheck source=scripts/shared/rig.sh
. "$here/rig.sh"
begin local "$@"
isolate
hosts
mkdir "$dir/a"
ln -s a "$dir/b"
work "$(stat -f -c %T "$dir/a")"
