#!/bin/sh
# Coverage of the packages that everything stands on, by their own tests.
#
#   scripts/coverage.sh [LEAST]
#
# It prints the blocks that no test reaches, and fails if fewer than LEAST percent (96) of the statements are reached, of
# protocol or of fileops, each with the packages below it. Tests of other packages do not count: they are many, slow, and reach these
# through processes that they start; and a line that only they reach is one that nobody notices to be wrong when working on the package.
set -eu

cd "$(dirname "$0")/.."
least=${1:-96}
dir=$(mktemp -d)
trap 'rm -r "$dir"' EXIT

status=0
for tree in protocol fileops; do
	packages=$(go list "./$tree/..." | grep -v /simfs | paste -sd, -)
	# shellcheck disable=SC2046 # they are words
	go test -count=1 -coverpkg="$packages" -coverprofile="$dir/profile" $(echo "$packages" | tr , ' ') >"$dir/log" ||
		{ cat "$dir/log"; exit 1; }
	# A line of a profile: FILE:LINE.COLUMN,LINE.COLUMN STATEMENTS COUNT. Each test binary has its own of a block.
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
