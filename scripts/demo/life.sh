#!/bin/sh
# life.sh COMMAND...: a service of the demo. It notes its start in the file lives, then becomes
# COMMAND.
echo "$DPL_SERVICE: $DPL_REASON" >>lives
exec "$@"
