#!/bin/sh
# pack.sh DIRECTORY: make the packages of the clients for PyPI and npm in DIRECTORY, without the
# network. Needs Python with setuptools and wheel, and npm.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)

# A Python that is managed, such as pyenv's, often lacks what the one of the system has.
for python in "${PYTHON:-python3}" /usr/bin/python3; do
	! "$python" -c 'import setuptools, wheel' 2>/dev/null || break
	python=
done
[ -n "$python" ] || {
	echo "pack.sh: no Python here has setuptools and wheel: install python3-setuptools and" \
		"python3-wheel, or name one in \$PYTHON" >&2
	exit 1
}

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
trap 'exit 1' HUP INT TERM
cp "$here/dpl.py" "$here/dpl.mjs" "$here/dpl.d.mts" "$here/README.md" "$here/pyproject.toml" \
	"$here/package.json" "$here/../../LICENSE" "$stage"
cd "$stage"

build="import sys, setuptools.build_meta as build
out = sys.argv[1]
build.build_sdist(out)
build.build_wheel(out)"
"$python" -c "$build" "$out" >"$stage/log" 2>&1 || {
	cat "$stage/log" >&2
	exit 1
}
npm pack --silent --offline --ignore-scripts --pack-destination "$out" >/dev/null
