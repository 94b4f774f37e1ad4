#!/bin/sh
# notes.sh VERSION: print what CHANGELOG.md says of a version, such as v0.1.0, for its release.
set -eu

[ $# = 1 ] || {
	echo "usage: notes.sh VERSION" >&2
	exit 64
}
cd "$(dirname "$0")/../.."
notes=$(awk -v head="## [${1#v}] - " '
	/^## / { inside = index($0, head) == 1; next }
	/^\[[^]]*\]: / { next }
	inside' CHANGELOG.md)
[ -n "$notes" ] || {
	echo "notes.sh: CHANGELOG.md: nothing about ${1#v}: add a section \"## [${1#v}] - DATE\"" >&2
	exit 1
}
echo "$notes"
