#!/bin/sh
# install.sh COMMAND...: install the commands in $BIN, and everything else, below $DESTDIR$PREFIX.
# For "make install", "make dist" and packagers.
#
# It lists for uninstall.sh, in share/dpl/installed, the files that it installed, including that
# list, and the directories, with a slash, that it made. It removes files that an earlier
# installation put there and this one did not.
set -eu

BIN=${BIN:-bin}
DESTDIR=${DESTDIR:-}
root=$DESTDIR$PREFIX
list=share/dpl/installed

die() {
	echo "install: $*" >&2
	exit 1
}

# directory DIRECTORY: make DIRECTORY and its parents.
directory() {
	[ ! -d "$root/$1" ] || return 0
	case $1 in
	*/*) directory "${1%/*}" ;;
	esac
	install -d "$root/$1"
	echo "$1/" >>"$new"
}

# put DIRECTORY FILE...: install each FILE in DIRECTORY. Programs and scripts become executable. A
# symbolic link stays one. A FILE that does not exist is skipped: it is a pattern without a match.
# Each is replaced in one step, because commands may be executed at any time.
put() {
	to=$1
	shift
	for file; do
		[ -f "$file" ] || continue
		mode=644
		if [ -x "$file" ] || head -n 1 "$file" | grep -q '^#!'; then mode=755; fi
		directory "$to"
		beside=$root/$to/.${file##*/}.new
		if [ -h "$file" ]; then
			ln -sf "$(readlink "$file")" "$beside"
		else
			install -m "$mode" "$file" "$beside"
		fi
		mv -f "$beside" "$root/$to/${file##*/}"
		echo "$to/${file##*/}" >>"$new"
	done
}

# fill DIRECTORY FILE...: install each FILE with the paths in it, which are below the default PREFIX
# or in the sources, changed to PREFIX.
fill() {
	to=$1
	shift
	for file; do
		sed -e "s|/usr/local/bin|$PREFIX/bin|g" -e "s|PATH=/usr/bin:/usr/bin|PATH=/usr/bin|" \
			-e "s|scripts/cron/crontab|$PREFIX/share/dpl/cron/crontab|g" "$file" >"$scratch/${file##*/}"
		put "$to" "$scratch/${file##*/}"
	done
}

case $PREFIX in
/*) ;;
*) die "PREFIX \"$PREFIX\": not an absolute path" ;;
esac
case $PREFIX in
*[[:space:]\"\'\\%\$\&\|\;:#]*)
	die "PREFIX \"$PREFIX\": has a character that units or the crontab cannot hold in a path"
	;;
esac
for command; do
	[ -x "$BIN/$command" ] || die "$BIN/$command: not built: run make first"
done

[ -r bin/share/man/man1 ] || die "bin/share: not made, or not readable: run make doc first"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
new=$scratch/installed

for command; do
	put bin "$BIN/$command"
done
for section in 1 5 7; do
	put share/man/man$section bin/share/man/man$section/*
done
put share/bash-completion/completions bin/share/bash-completion/completions/*
put share/zsh/site-functions bin/share/zsh/site-functions/*
put share/fish/vendor_completions.d bin/share/fish/vendor_completions.d/*
put share/dpl scripts/dpl.sh scripts/dpl.mk scripts/clients/dpl.*
put share/dpl/examples scripts/examples/*.*
for example in scripts/examples/*/; do
	example=${example%/}
	put "share/dpl/${example#scripts/}" "$example"/*
done
put share/dpl/schemas spec/*.schema.json
put share/dpl/schemas/output spec/output/*.schema.json
put share/doc/dpl README.md CHANGELOG.md LICENSE
put share/doc/dpl/html bin/share/doc/dpl/html/*
put share/doc/dpl/spec spec/*.md
put share/doc/dpl/spec/pictures spec/pictures/*.svg
fill share/dpl/cron scripts/cron/crontab
fill lib/systemd/system scripts/systemd/system/*
# Not lib: systemd looks for a user's units in both below /usr and /usr/local, but only in share
# below ~/.local.
fill share/systemd/user scripts/systemd/user/*

echo "$list" >>"$new"
if [ -f "$root/$list" ]; then
	grep -vxF -f "$new" "$root/$list" | while IFS= read -r path; do
		case $path in
		*/) echo "$path" >>"$scratch/directories" ;;
		*) rm -f "$root/$path" ;;
		esac
	done
	[ ! -f "$scratch/directories" ] || cat "$scratch/directories" >>"$new"
fi
install -m 644 "$new" "$root/$list"
