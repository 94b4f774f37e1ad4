#!/bin/sh
# check.sh [-p] [N]: search all models with N processes (3), also with each of their seeded bugs.
#
# -p leaves out the seeded bugs: the properties alone take a fifth of the time.
#
# It runs two searches at a time, and prints a line for each: the model, the property or bug, sizes,
# states, seconds of CPU, verdict. It exits 1 if a property fails, a bug is not found, a search was
# cut short, or a search without a bug never reached a line that is not marked "unreached". It needs
# spin and a C compiler.
set -u
wanted=.
[ "${1-}" != -p ] || { wanted=^holds && shift; }
n=${1:-3}
here=$(cd "$(dirname "$0")" && pwd) || exit 1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM

# table: print a line for each search: verdict|model|property or bug|sizes|flags of cc|flags of pan.
# The link model has its own numbers of clients, because more would take too long.
table() {
	all="-DN=$n" safe='-O0 -DSAFETY' big='-O2 -DSAFETY'
	if [ "$n" -gt 3 ]; then
		big="$big -DCOLLAPSE"
		cat <<-END
			holds|link|three edit|-DN=3 -DMAX=3|$big|
			holds|link|one reads, two edit|-DN=3 -DARCHIVE -DREADER -DMAX=3|$big|
			holds|link|two edit|-DN=2 -DARCHIVE -DMAX=5|$big|
			holds|link|one reads, one edits|-DN=2 -DARCHIVE -DREADER -DMAX=5|$big|
		END
	else
		cat <<-END
			holds|link|two edit|-DN=2 -DARCHIVE -DMAX=3|$big|
			holds|link|one reads, one edits|-DN=2 -DARCHIVE -DREADER -DMAX=4|$big|
		END
	fi
	for bug in RENAME NO_CHECK EXISTS EARLY_CHECK TRUST_HINT DESCENDING END_UNCHECKED NO_ORIGIN \
		NO_END ANY_COPY; do
		echo "finds|link|$bug|-DN=2 -DARCHIVE -DMAX=4|$safe|"
	done
	echo "finds|link|HINT_DECIDES|-DN=2 -DARCHIVE -DMAX=5|$safe|"
	for bug in END_STOPS HINT_EXISTS; do
		echo "finds|link|$bug|-DN=2 -DARCHIVE -DREADER -DMAX=4|$safe|"
	done
	echo "finds|link|SETTLE_UNCHECKED|-DN=3 -DARCHIVE -DREADER -DMAX=3|$big|"

	echo "holds|lock|safety|$all|$big|"
	for bug in NO_INODE_CHECK REMOVE_AFTER_UNLOCK REMOVE_UNLOCKED LOCK_KEPT; do
		echo "finds|lock|$bug|$all|$safe|"
	done
	echo "holds|lock|a remover|-DN=3 -DREMOVER|$big|"
	echo "finds|lock|NO_SECOND_CHECK|-DN=3 -DREMOVER|$safe|"

	echo "holds|pass|safety|$all|$safe -DNOCLAIM|"
	for bug in CASCADE REVIVAL TWO_HOLDS SAME_PASS; do
		echo "finds|pass|$bug|$all|$safe -DNOCLAIM|"
	done
	echo "holds|pass|drains|$all|-O0 -DNFAIR=3|-a -f"
	echo "finds|pass|UNACKNOWLEDGED_KEPT|$all|-O0 -DNFAIR=3|-a -f"

	echo "holds|gate|safety|$all|$safe|"
	for bug in RELEASE_BEFORE_COMMIT SPAWN_AFTER_COMMIT; do echo "finds|gate|$bug|$all|$safe|"; done

	echo "holds|keeper|safety|-DN=2|$big|"
	for bug in READ_BEFORE_LOOK TORN_TAKEN NOT_AWAITED REMOVED_BEFORE_COMMIT NOT_FORGOTTEN \
		FINISH_AFTER_NAME PROMPT_UNLOCKED; do
		echo "finds|keeper|$bug|-DN=2|$safe|"
	done

	echo "holds|hold|three stages|-DN=3 -DFAULTS=2|$big|"
	echo "holds|hold|three faults|-DN=2 -DFAULTS=3|$big|"
	echo "holds|hold|a caller|-DN=3 -DFAULTS=2 -DOUTER|$big|"
	for bug in OWN_STATUS CLOSED_FIRST DISMISSED_FIRST NO_PASS KEEPER_ENDS DEAD_ENDED STACK_ALONE \
		REFUSED NOT_STARTED; do
		echo "finds|hold|$bug|-DN=3 -DFAULTS=2|$safe|"
	done
	for bug in OWN_CALLER DEAD_CALLER CLEANING_FIRST; do
		echo "finds|hold|$bug|-DN=2 -DFAULTS=2 -DOUTER|$safe|"
	done

	echo "holds|queue|safety|-DN=3|$big|"
	for bug in KEEPER_IGNORED KEEPER_EXITS_FIRST CLAIM_UNLOCKED EPOCH_UNCHECKED NOT_READ_AGAIN \
		ABORT_ONCE REDRIVE_ANY DEAD_FORGOTTEN; do
		echo "finds|queue|$bug|-DN=3|$safe|"
	done

	echo "holds|owner|safety|$all|$safe|"
	for bug in DECIDE_BEFORE_LOCK ALERT_APART; do echo "finds|owner|$bug|$all|$safe|"; done
}

# search: search $model, with the output of pan in $at/out and its CPU time in $at/cpu; fail if the
# search did not run
search() {
	rm -rf "$at" && mkdir "$at" && cd "$at" || return
	cp "$here/$model.pml" . || return
	# shellcheck disable=SC2086 # each is several flags
	spin -a $sizes $bug "$model.pml" >out 2>&1 && cc -w -DMEMLIM=9000 $cc -o pan pan.c >>out 2>&1 &&
		(./pan -m100000 $pan >out 2>&1; times >cpu) || return
	grep -q 'State-vector' out
}

# whole: test whether the search was not cut short
whole() {
	cut='max search depth too small|out of memory|not completed|aborted|resource|truncated'
	! grep -Eiq "$cut" "$at/out"
}

# unreached: print the lines of the model that were not reached and are not marked "unreached"
unreached() {
	sed -n "s/^	.*$model\.pml:\([0-9]*\), state .*/\1/p" "$at/out" | sort -nu | while read -r line; do
		sed -n "$line{/\/\* unreached/!s/^[	 ]*/$model.pml:$line: never reached: /p;}" "$at/$model.pml"
	done
}

# verdict holds|finds: test whether the search ended as expected. A bug counts as found if the
# search found a failed assertion, a deadlock or a cycle.
verdict() {
	case $1 in
	holds) grep -q 'errors: 0$' "$at/out" && whole && [ -z "$(unreached)" ] ;;
	finds)
		grep -Eq 'assertion violated|invalid end state|acceptance cycle' "$at/out" &&
			! grep -q 'errors: 0$' "$at/out"
		;;
	esac
}

# report VERDICT: print the line of a search
report() {
	states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' "$at/out")
	cpu=$(tail -n 1 "$at/cpu" | awk '{
		split($1, u, /[ms]/)
		split($2, s, /[ms]/)
		printf "%.2f", 60 * (u[1] + s[1]) + u[2] + s[2]
	}')
	printf '%-5s  %-21s  %-29s %10s states %7s s  %s\n' \
		"$model" "$property" "$(echo "$sizes" | sed 's/-D//g')" "$states" "$cpu" "$1"
}

# worker 0|1: run every second search
worker() {
	at=$dir/$1
	table | grep "$wanted" | awk "NR % 2 == $1" | while IFS='|' read -r word model property sizes cc pan; do
		bug=
		[ "$word" = holds ] || bug=-DBUG_$property
		if search && verdict "$word"; then
			report "$word"
			continue
		fi
		: >"$dir/failed"
		report "NOT $word"
		{ unreached; grep -v "^Depth=" "$at/out" | head -n 20; } >&2
	done
}

worker 0 &
worker 1 &
wait
[ ! -e "$dir/failed" ]
