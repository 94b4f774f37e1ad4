#!/bin/sh
# source.sh PACKAGE: unpack a source package of Debian to /usr/src/PACKAGE, as root, for tests that
# build it. It is without Debian's patches.
#
# apt looks for sources where this machine gets its packages, with lists in a temporary directory.
# So nothing else on the machine changes.
set -eu
package=${1:?usage: source.sh PACKAGE}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' HUP INT TERM

mkdir "$dir/sources" "$dir/lists" "$dir/new"
find /etc/apt \( -name '*.list' -o -name '*.sources' \) -exec cp {} "$dir/sources" \;
sed -i 's/^deb[[:blank:]]/deb-src /; s/^Types:.*/Types: deb-src/' "$dir"/sources/*

from_source() {
    apt-get -qq -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$dir/sources" \
        -o Dir::State::Lists="$dir/lists" -o Dir::Cache="$dir/cache" \
        -o APT::Sandbox::User=root "$@" >/dev/null
}
from_source update
cd "$dir"
from_source source --download-only "$package"

tar -xf "$package"_*.orig.tar.[gx]z -C new --strip-components=1 --no-same-owner
chmod 755 new
mv -T new "/usr/src/$package"
