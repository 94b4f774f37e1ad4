#!/bin/sh
# uninstall.sh: remove from below $DESTDIR$PREFIX the files that install.sh has put there, and the directories that it has
# made, unless somebody else has put something in.
set -eu

root=${DESTDIR:-}$PREFIX
list=share/dpl/installed

[ -f "$root/$list" ] || {
	echo "uninstall: $root/$list: no such file: make install has not been run with this PREFIX and DESTDIR" >&2
	exit 1
}
cd "$root"
grep -v -e '/$' -e "^$list\$" "$list" | while IFS= read -r path; do
	rm -f "./$path"
done
directories=$(grep '/$' "$list" | LC_ALL=C sort -r)
# The list goes after all that is in it: what fails can be tried again.
rm -f "./$list"
echo "$directories" | while IFS= read -r path; do
	rmdir "./$path" 2>/dev/null || :
done
