#!/bin/sh
# image.sh DIST DIRECTORY: unpack the archives for Linux in DIST, as make dist makes them, to
# DIRECTORY/linux-ARCHITECTURE: what the Containerfile puts into the image.
set -eu

mkdir "$2"
for archive in "$1"/dpl-*-linux-*.tar.gz; do
	platform=${archive%.tar.gz}
	root=$2/linux-${platform##*-linux-}
	mkdir -p "$root/usr" "$root/ledger"
	chmod 700 "$root/ledger"
	tar -xzf "$archive" -C "$root/usr" --strip-components=1 --no-same-owner \
		--wildcards '*/bin/*' '*/share/doc/dpl/LICENSE' '*/share/doc/dpl/THIRD-PARTY-LICENSES'
done
