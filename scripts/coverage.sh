#!/bin/sh
# coverage.sh [LEAST]: measure how much of protocol and fileops their own tests cover.
#
# It prints the blocks that no test reaches, and exits 1 if the tests reach less than LEAST percent
# (96) of the statements of protocol or of fileops, each with the packages below it. Tests of other
# packages do not count: they are slow, reach these packages through processes that they start, and
# are not the tests that you run while you work on the package.
set -eu

cd "$(dirname "$0")/.."
least=${1:-96}
dir=$(mktemp -d)
trap 'rm -r "$dir"' EXIT

status=0
for tree in protocol fileops; do
	packages=$(go list "./$tree/..." | grep -v /simfs | paste -sd, -)
	# shellcheck disable=SC2046 # one word per package
	go test -count=1 -vet=off -coverpkg="$packages" -coverprofile="$dir/profile" \
		$(echo "$packages" | tr , ' ') >"$dir/log" ||
		{ cat "$dir/log"; exit 1; }

	# A line of a profile: FILE:LINE.COLUMN,LINE.COLUMN STATEMENTS COUNT. Each test binary writes a
	# line for each block, so their counts are added up.
	sed 1d "$dir/profile" | sort -t: -k1,1 -k2,2n | awk -v tree="$tree" -v least="$least" '
		!($1 in size) { size[$1] = $2; order[++n] = $1 }
		{ count[$1] += $3 }
		END {
			for (i = 1; i <= n; i++) {
				block = order[i]
				all += size[block]
				if (count[block]) { reached += size[block]; continue }
				sub(/.*\/dpl\//, "", block)
				missed = missed "\t" block "\n"
			}
			percent = all ? 100 * reached / all : 0
			printf "%s: %.1f %% of %d statements; not reached:\n%s", tree, percent, all, missed
			exit percent < least
		}' || { echo "coverage.sh: $tree is below $least %" >&2; status=1; }
done
exit $status
