#!/bin/sh
# removed.sh: what a package does before and after its files are removed. It stops the timers, which
# could not run their commands any more, and disables those that root has enabled. Services keep
# running.
set -e

case ${1:-} in
remove | 0) ;; # of dpkg, and of rpm; others are upgrades
*) exit 0 ;;
esac

root=${DPKG_ROOT:-}
managed=
[ -n "$root" ] || [ ! -d /run/systemd/system ] || managed=yes

[ -z "$managed" ] || systemctl stop dpl-cleanup.timer 'dpl-orchestrate@*.timer' || :
for link in "$root"/etc/systemd/system/*.wants/dpl-* "$root"/etc/systemd/user/*.wants/dpl-*; do
	case ${link##*/} in
	dpl-cleanup.timer | dpl-orchestrate@*.timer)
		[ ! -L "$link" ] || rm -f "$link"
		;;
	esac
done
[ -z "$managed" ] || systemctl daemon-reload || :
