#!/bin/sh
# Coverage of the two packages that everything stands on, by their own tests.
#
#   scripts/coverage.sh [LEAST]
#
# It prints the blocks that no test reaches, and fails if fewer than LEAST percent (96) of the statements of either package
# are reached. Tests of other packages do not count: they are many, slow, and reach these two through processes that they
# start; and a line that only they reach is one that nobody notices to be wrong when working on the package.
set -eu

cd "$(dirname "$0")/.."
least=${1:-96}
dir=$(mktemp -d)
trap 'rm -r "$dir"' EXIT

status=0
for package in protocol fileops; do
	go test -count=1 -coverprofile="$dir/$package" "./$package" >"$dir/log" || { cat "$dir/log"; exit 1; }
	# A line of a profile: FILE:LINE.COLUMN,LINE.COLUMN STATEMENTS COUNT
	sed 1d "$dir/$package" | sort -t: -k1,1 -k2,2n | awk -v package="$package" -v least="$least" '
		{ all += $2; if ($3) reached += $2; else { sub(/.*\//, "", $1); missed = missed "\t" package "/" $1 "\n" } }
		END {
			percent = all ? 100 * reached / all : 0
			printf "%s: %.1f %% of %d statements; not reached:\n%s", package, percent, all, missed
			exit percent < least
		}' || { echo "coverage.sh: $package is below $least %" >&2; status=1; }
done
exit $status
