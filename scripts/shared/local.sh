#!/bin/sh
# local.sh BIN COMMIT EDITS: a local directory, the control: nothing may be lost here, however it commits.
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
