#!/bin/sh
# check.sh [N]: runs all models with N processes (default 3), each also with its seeded bugs. One line each: model, property, N,
# states, seconds, verdict. It fails if a property does, a bug is not found or a search was not complete. Needs spin and a C compiler.
set -u
n=${1:-3}
here=$(cd "$(dirname "$0")" && pwd) || exit 1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
failed=0

# search MODEL PROPERTY COMPILER PAN [FLAG]...: leaves what pan says in $dir/out, fails if there is none.
search() {
	model=$1 compiler=$2 pan=$3
	shift 3
	rm -f "$dir"/pan* "$dir"/*.trail
	: >"$dir/out"
	# shellcheck disable=SC2086 # the flags are several
	(cd "$dir" && spin -a "-DN=$n" "$@" "$here/$model.pml" >spin.out 2>&1 &&
		cc -O2 -w -DCOLLAPSE -DMEMLIM=8000 $compiler -o pan pan.c >cc.out 2>&1 &&
		./pan -m1000000 $pan >out 2>&1)
	grep -q 'State-vector' "$dir/out"
}

value() { sed -n "s/$1/\\1/p" "$dir/out" | head -n 1; }

whole() {
	! grep -Eq 'max search depth too small|out of memory|not completed|aborted|resource' "$dir/out"
}

# line MODEL PROPERTY VERDICT
line() {
	printf '%-6s %-24s N=%s %10s states %6s s  %s\n' "$1" "$2" "$n" \
		"$(value '^ *\([0-9.e+]*\) states, stored.*')" "$(value 'pan: elapsed time \([0-9.]*\) seconds')" "$3"
}

# holds MODEL PROPERTY COMPILER PAN [FLAG]...
holds() {
	model=$1 property=$2
	shift 2
	if search "$model" "$@" && grep -q 'errors: 0' "$dir/out" && whole; then
		line "$model" "$property" holds
	else
		line "$model" "$property" FAILS
		cat "$dir/out" "$dir/cc.out" 2>/dev/null | head -n 20 >&2
		failed=1
	fi
}

# finds MODEL BUG COMPILER PAN [FLAG]...: an assertion, a deadlock or a cycle, but nothing else
finds() {
	model=$1 bug=$2 compiler=$3 pan=$4
	shift 4
	if search "$model" "$compiler" "$pan" "-DBUG_$bug" "$@" && grep -Eq 'assertion violated|invalid end state|acceptance cycle' "$dir/out"; then
		line "$model" "$bug" found
	else
		line "$model" "$bug" 'NOT FOUND'
		failed=1
	fi
}

holds lock safety -DSAFETY ''
for bug in NO_INODE_CHECK REMOVE_AFTER_UNLOCK REMOVE_UNLOCKED LOCK_KEPT; do finds lock "$bug" -DSAFETY ''; done
holds tick safety '-DSAFETY -DNOCLAIM' ''
holds tick drains -DNFAIR=3 '-a -f'
for bug in CASCADE REVIVAL TWO_HOLDS SAME_TICK; do finds tick "$bug" '-DSAFETY -DNOCLAIM' ''; done
holds gate safety -DSAFETY ''
for bug in RELEASE_BEFORE_COMMIT SPAWN_AFTER_COMMIT; do finds gate "$bug" -DSAFETY ''; done
holds owner safety -DSAFETY ''
for bug in DECIDE_BEFORE_LOCK ALERT_APART; do finds owner "$bug" -DSAFETY ''; done
holds link safety -DSAFETY '' -DREADER
holds link archive -DSAFETY '' -DREADER -DARCHIVE
for bug in RENAME NO_CHECK EXISTS HINT_EXISTS; do finds link "$bug" -DSAFETY '' -DREADER; done
exit "$failed"
