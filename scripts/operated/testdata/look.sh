#!/bin/sh
# look.sh SERVICE...: print the answers of DPL about the group, and more about each SERVICE.
if test -e behind; then
	DPL_NOW=$(date -u -d '-1 hour' +%FT%TZ)
	export DPL_NOW
fi

# ask NAME COMMAND...: print NAME, what COMMAND prints, and its exit status, between marks.
ask() {
	printf '\036%s\037' "$1"
	shift
	"$@" 2>&1
	printf '\037%s' $?
}

ask json dpl-status --group shop --json
ask healthy dpl-status --group shop --check healthy
ask page dpl-status --group shop --html -
ask metrics dpl-status --group shop --openmetrics -
for service; do
	ask "running $service" dpl-status --group shop --service "$service" --check running
	ask "ready $service" dpl-status --group shop --service "$service" --check ready
	ask "why $service" dpl-status --group shop --why "$service"
done
ask again dpl-status --group shop --json
