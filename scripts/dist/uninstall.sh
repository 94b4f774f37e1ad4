#!/bin/sh
# uninstall.sh: remove the files that install.sh put below $DESTDIR$PREFIX, and the directories that
# it made, unless they contain something else.
set -eu

root=${DESTDIR:-}$PREFIX
list=share/dpl/installed

[ -f "$root/$list" ] || {
	echo "uninstall: $root/$list: no such file:" \
		"make install has not been run with this PREFIX and DESTDIR" >&2
	exit 1
}
cd "$root"
grep -v -e '/$' -e "^$list\$" "$list" | while IFS= read -r path; do
	rm -f "./$path"
done
directories=$(grep '/$' "$list" | LC_ALL=C sort -r)
# The list is removed after the files in it, so that a failed run can be repeated.
rm -f "./$list"
echo "$directories" | while IFS= read -r path; do
	rmdir "./$path" 2>/dev/null || :
done
