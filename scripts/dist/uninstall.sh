#!/bin/sh
# uninstall.sh: remove from below $DESTDIR$PREFIX what install.sh has put there, and those directories that are DPL's alone,
# unless somebody else has put something in.
set -eu

root=${DESTDIR:-}$PREFIX
list=share/dpl/installed

[ -f "$root/$list" ] || {
	echo "uninstall: $root/$list: no such file: make install has not been run with this PREFIX and DESTDIR" >&2
	exit 1
}
cd "$root"
while IFS= read -r path; do
	rm -f "./$path"
done <"$list"
for ours in share/dpl share/doc/dpl; do
	[ ! -d "$ours" ] || find "$ours" -depth -type d -exec rmdir {} + 2>/dev/null || :
done
