#!/bin/sh
# make.sh BIN DIRECTORY: make, with the commands in BIN, the ledgers DIRECTORY/ledger and
# DIRECTORY/linked, in which operations, services, tasks and questions are in every state. Needs
# Linux and root: the ledgers name a host and a boot that are nobody's, and paths below /mnt, so the
# processes in them mean nothing to whoever reads them.
set -eu

# shows LEDGER COMMAND...: print the command and what it prints of the ledger, a few days later.
shows() {
	ledger=$1
	shift
	echo "\$ $ledger: $*"
	DPL_NOW=2026-12-01T00:00:00Z "$@" --ledger "$out/$ledger" | sed "s|$out/|/kept/|g"
}

# show prints what commands make of the ledgers. Later versions must say all that, and may say more.
show() {
	for ledger in ledger linked; do
		for op in $(dpl-status --ledger "$out/$ledger" --ids); do
			shows "$ledger" dpl-status --op="$op" --json
		done
		for group in $(dpl-status --ledger "$out/$ledger" --groups --ids); do
			shows "$ledger" dpl-status --group="$group" --json
		done
		for queue in $(dpl-status --ledger "$out/$ledger" --queues --ids); do
			shows "$ledger" dpl-status --queue="$queue" --json
			shows "$ledger" dpl-audit --queue="$queue" --json
		done
	done
	shows ledger dpl-audit --op=recorded --json
	shows ledger dpl-audit --group=every --json
	shows ledger dpl-audit --queue=work --at=20
}

# flags prints the flags, their values and the exit statuses of all commands in BIN, one per line.
flags() {
	for command in "$1"/dpl-*; do
		"$command" --help --json | jq -r '.program as $program
			| (.flags[] | "\($program) --\(.name)" as $flag
				| (if .value then "\($flag)=" else $flag end),
				(.short // empty | "\($program) -\(.)"),
				((.values // [])[] | "\($flag)=\(.)")),
			(.exitStatuses[] | "\($program) exits \(.status)")'
	done | LC_ALL=C sort -u
}

if [ "${1:-}" != inside ]; then
	[ $# = 2 ] || {
		echo "usage: make.sh BIN DIRECTORY" >&2
		exit 64
	}
	mkdir "$2"
	bin=$(cd "$1" && pwd) out=$(cd "$2" && pwd)
	unshare --mount --uts --pid --fork --mount-proc --kill-child sh "$0" inside "$bin" "$out"
	PATH=$bin:$PATH
	show >"$out/shown.txt"
	flags "$bin" >"$out/flags.txt"
	chmod -R u=rwX,go=rX "$out"
	exit
fi

out=$3
mount -t tmpfs kept /mnt
mkdir /mnt/bin /mnt/made
mount --bind "$2" /mnt/bin
cd /mnt
echo 00000000000000000000000000000001 >machine
echo 00000000-0000-4000-8000-000000000001 >boot
mount --bind machine /etc/machine-id
mount --bind boot /proc/sys/kernel/random/boot_id
hostname kept

for name in $(env | sed -n 's/^\([A-Za-z_]*\)=.*/\1/p'); do
	case $name in PWD | SHLVL | _) ;; *) unset "$name" ;; esac
done
export PATH=/mnt/bin:/usr/bin:/bin HOME=/mnt TZ=UTC LC_ALL=C USER=root DPL_REPLAY=1
umask 077

# gets STATUS COMMAND...: run COMMAND, which must exit with STATUS.
gets() {
	wanted=$1 status=0
	shift
	"$@" >>out 2>>err || status=$?
	[ "$status" = "$wanted" ] || {
		echo "make.sh: $*: exit status $status, want $wanted" >&2
		tail -n 2 err >&2
		exit 1
	}
}

# at TIME COMMAND...: run COMMAND with the clock at that time of a day in the past.
at() {
	DPL_NOW=2026-11-25T$1Z
	export DPL_NOW
	shift
	gets 0 "$@"
	unset DPL_NOW
}

# passes N: make N passes over $DPL_GROUP, with time for what they start.
passes() {
	n=$1
	while [ "$n" -gt 0 ]; do
		gets 0 dpl-orchestrate --owner=kept
		sleep 0.5
		n=$((n - 1))
	done
}

# request SERVICE FLAG...: register a service that the next pass starts.
request() {
	service=$1
	shift
	gets 0 dpl-register --request --no-pass --service="$service" "$@"
}

operations() {
	gets 0 dpl-push --op=running --participant=make --call=all --pid=$$ --resource-root=/mnt/made \
		--description='The whole build' --tmp --resource=/mnt/made/all.o
	gets 0 dpl-push --op=running --participant=cc --call=compile --caller=all --supervisor=ide \
		--handle='task 7 – ü' --heartbeat --readiness=starting
	gets 0 dpl-heartbeat --op=running --supervisor=ide --pid=$$
	gets 0 dpl-heartbeat --op=running --call=compile --readiness=ready --note='3 of 7 files'
	TRACEPARENT=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
	export TRACEPARENT
	gets 0 dpl-push --op=running --participant=ld --call=link --caller=compile --no-fail-on-crash
	unset TRACEPARENT

	gets 0 dpl-push --op=aborted --participant=make --call=all --pid=$$ --staleness=1m --interval=20s
	gets 0 dpl-push --op=aborted --participant=cc --call=compile --pid=$$
	gets 0 dpl-abort --op=aborted --reason='the user pressed Ctrl-C'
	gets 3 dpl-heartbeat --op=aborted --call=compile --cleaning

	gets 0 dpl-push --op=cleanup --participant=make --call=all --pid=$$
	sleep 60 &
	gets 0 dpl-push --op=cleanup --participant=cc --call=compile --pid=$! --supervisor=ide
	gets 0 dpl-heartbeat --op=cleanup --supervisor=ide --pid=$$
	kill -9 $!
	wait $! 2>>err || :
	gets 0 dpl-cleanup --op=cleanup

	gets 0 dpl-run --op=completed -- true
	gets 7 dpl-run --op=failed --participant=test -- sh -c 'exit 7'
	gets 0 dpl-run --op=again -- true
	gets 0 dpl-run --op=again -- true

	at 00:00:00 dpl-push --op=stale --participant=cli --call=main
	at 00:01:00 dpl-cleanup --op=stale
	at 00:00:00 dpl-push --op=given --participant=cli --call=main
	at 00:00:05 dpl-heartbeat --op=given --call=main --note='a clock that was given'

	gets 0 dpl-push --op=recorded --participant=cli --call=main --pid=$$
	gets 0 dpl-audit --op=recorded --on
	gets 0 dpl-push --op=recorded --participant=cc --call=compile --pid=$$
	gets 0 dpl-pop --op=recorded --call=compile
}

every() {
	export DPL_GROUP=every
	request running --budget=tokens=1000 --jitter=25% --deadline=10m --finish='exit 0' \
		--preflight='exit 0' --stuck=1h,2h --exit-status=tempfail=75,100-109 --dir=/mnt \
		-- sleep 600
	gets 0 dpl-orchestrate --owner=kept --rule=net.*=warn --rule=disk=pause --intensity=20/1h \
		--on-intensity=park --interval=30s --staleness=2m
	gets 0 dpl-audit --group=every --on
	request starting --readiness=starting --depends-on=running -- sleep 600
	request waiting --depends-on=starting -- sleep 600
	request again --restart=transient --backoff=0,1h -- sh -c 'echo broken; exit 3'
	request dead --max-attempts=0 -- sh -c 'exit 4'
	request final --restart=transient -- sh -c 'exit 78'
	request completed --restart=transient -- true
	request gone --restart=temporary --keep-ended=1ms --alert-on=final -- true
	request killed --backoff=1h -- sh -c 'kill -SEGV $$'
	request stopped -- sleep 600
	request stopping --kill-timeout=1h -- sh -c 'trap "" TERM; while :; do sleep 1; done'
	gets 0 dpl-register --service=itself --pid=$$ --no-pass
	passes 4
	gets 0 dpl-shutdown --service=stopped
	gets 0 dpl-heartbeat --service=running --spend=tokens=70 --note='half way'
	gets 0 dpl-report --service=running --violation=net.slow --detail='400 ms'
	gets 0 dpl-report --service=running --violation=disk
	gets 0 dpl-shutdown --service=stopping
	passes 3
	request registered -- sleep 600
	unset DPL_GROUP
}

groups() {
	export DPL_GROUP=outer
	request inner --child-group=inner
	gets 0 dpl-register --group=inner --service=leaf --request --no-pass -- sleep 600
	passes 2

	export DPL_GROUP=set
	request first --backoff=1h -- sh -c 'sleep 1; exit 1'
	request second --restart=transient -- true
	request third -- sleep 600
	gets 0 dpl-orchestrate --owner=kept --strategy=rest_for_one --intensity=3/5m --on-intensity=delay --on-exit=pass \
		--window=3
	passes 4

	export DPL_GROUP=over
	request job --restart=transient --significant -- true
	gets 0 dpl-orchestrate --owner=kept --auto-shutdown=all_significant
	passes 3

	export DPL_GROUP=unseen
	request ended --restart=transient -- sleep 600
	passes 1
	kill "$(dpl-status --group=unseen --json | sed -n 's/.*"pid": *\([1-9][0-9]*\).*/\1/p' | tail -n 1)"
	unset DPL_GROUP
}

# claim TASK FLAG...: claim the task, and remember the epoch for settle.
claim() {
	task=$1
	shift
	dpl-claim --queue=work --task="$task" "$@" >claim
	read -r _ epoch _ <claim
}

# settle FLAG...: settle the task that was claimed last.
settle() {
	gets 0 dpl-settle --queue=work --task="$task" --epoch="$epoch" "$@"
}

work() {
	gets 0 dpl-queue --queue=work --create --slots=9 --max-attempts=2 --backoff=0,1m \
		--halt-on=-notStarted --age-after=1h --goal='All letters are sent' --remember-for=1h
	printf '%s\n' '{"taskId": "text", "text": "to Ada – ü", "priority": -2}' \
		'{"taskId": "unknown", "argv": ["true"], "x-mine": {"kept": 1.50}}' |
		gets 0 dpl-enqueue --queue=work --file=-
	for name in waiting claimed called deadline blocked dead 'done' cancelled failed released; do
		gets 0 dpl-enqueue --queue=work --id="$name" --text="$name"
	done
	gets 0 dpl-enqueue --queue=work --id=delayed --delay=100h -- true
	gets 0 dpl-enqueue --queue=work --id=after --after=claimed --after=dead -- true
	gets 0 dpl-enqueue --queue=work --id=first --in-group=g --max-attempts=7 --timeout=1m \
		--soft-timeout=50s --kill-after=1s --dir=/ -- sh -c 'echo first'
	gets 0 dpl-enqueue --queue=work --id=second --in-group=g -- true
	TRACEPARENT=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
	export TRACEPARENT
	gets 0 dpl-enqueue --queue=work --id=traced -- true
	unset TRACEPARENT
	gets 0 dpl-enqueue --queue=work --id=long --text="$(seq -s ' ' 200)"
	echo '{"exit": [0], "changed": ["made"], "prose": "It is polite."}' >check.json
	gets 0 dpl-enqueue --queue=work --id=checked --check=check.json -- true

	claim claimed --pid=$$ --participant=one
	claim called --op=running --call=all --participant=two
	claim deadline --deadline=1000h --participant=three
	claim blocked --pid=$$ --participant=four
	settle --block='which colour?'
	claim dead --pid=$$ --participant=four
	settle --fail --status=3 --reason='no route'
	claim dead --pid=$$ --participant=four
	settle --fail
	claim 'done' --pid=$$ --participant=four
	echo 'a report' >report
	settle --done --report=report
	claim failed --pid=$$ --participant=four
	settle --fail --reason='the first of two'
	claim failed --pid=$$ --participant=four
	settle --snooze=1000h
	claim released --pid=$$ --participant=four
	settle --release
	claim checked --pid=$$ --participant=four
	gets 0 dpl-enqueue --queue=work --cancel=cancelled --reason='not needed'
	at 00:00:00 dpl-enqueue --queue=work --id=expired --expires=1s --text=late
}

queues() {
	gets 0 dpl-enqueue --queue=run --id=good -- sh -c 'echo good'
	gets 0 dpl-enqueue --queue=run --id=bad --max-attempts=1 -- sh -c 'echo bad; exit 1'
	dpl-work run >>out 2>>err || :
	gets 0 dpl-audit --queue=run --seal
	gets 0 dpl-enqueue --queue=run --id=next -- true
	echo 'Be brief.' >prompt
	gets 0 dpl-audit --queue=run --note=prompt --data=prompt --task=next

	gets 0 dpl-queue --queue=halted --create --permits=3
	gets 0 dpl-enqueue --queue=halted --id=one -- true
	gets 0 dpl-queue --queue=halted --halt=maintenance --as=ops --details='until noon'
	gets 0 dpl-queue --queue=over --create --goal=none --goal-done --close

	# So many ended tasks that the queue's file does not keep them all.
	seq 70 | sed 's/.*/{"taskId": "n&"}/' >many
	gets 0 dpl-enqueue --queue=many --file=many
	gets 0 dpl-enqueue --queue=many $(seq -f '--cancel=n%g' 66)
	gets 0 dpl-enqueue --queue=many --cancel=n67
}

# shown: print the hash of the question $id.
shown() { dpl-answer --id="$id" --json | sed -n 's/^  "shown": "\(.*\)",$/\1/p'; }

# ask KEY FLAG...: ask the question KEY, and do not wait for the answer.
ask() {
	key=$1
	shift
	gets 75 dpl-ask --key="$key" --wait=1ms --participant=agent "$@"
	id=$(dpl-status --queue=ask --ids | tail -n 1)
}

questions() {
	echo '{"tool": "Bash", "argv": ["rm", "-r", "build"]}' >input.json
	may="--kind=permission --input=input.json --question=May_I?"
	# shellcheck disable=SC2086
	{
		ask allowed $may --pid=$$
		gets 0 dpl-answer --id="$id" --shown="$(shown)" --allow --allow-self once
		ask denied $may --pid=$$
		gets 0 dpl-answer --id="$id" --deny --allow-self never
		ask open $may --op=running --call=all --timeout=1000h
	}
	ask answered --question='Which colour?' --choice=red --choice=blue --pid=$$
	gets 0 dpl-answer --id="$id" --allow-self blue
	gets 124 dpl-ask --key=late --kind=question --wait=1m --participant=agent --question='Now?' --pid=$$ --timeout=1ms
	sleep 60 &
	ask withdrawn --kind=question --question='Still there?' --pid=$!
	kill -9 $!
	wait $! 2>>err || :
	gets 0 dpl-cleanup
	ask plain --kind=question --question='How are you?' --pid=$$ --timeout=1000h
}

# linked makes a ledger whose edits commit by link, and are seen by a second host.
linked() {
	gets 0 dpl-push --commit=link --op=linked --participant=cli --call=main
	gets 0 dpl-push --op=linked --participant=cc --call=compile
	gets 0 dpl-pop --op=linked --call=compile
	gets 0 dpl-run --op=over -- true
	gets 0 dpl-register --group=linked --service=one --no-pass --request -- sleep 600
	gets 0 dpl-orchestrate --group=linked --owner=kept
	gets 0 dpl-enqueue --queue=linked --id=one -- true
	hostname other
	gets 0 dpl-heartbeat --op=linked --call=main --note='from another host'
	gets 0 dpl-cleanup
}

# files writes files as users write them, with every member, and reads them with the commands.
files() {
	mkdir files
	cat >files/services.json <<'EOF'
{
  "$schema": "https://github.com/dpl-project/dpl/spec/services.schema.json",
  "protocolVersion": 1,
  "supervision": {
    "strategy": "rest_for_one", "window": 5, "intensity": 3, "intensityPeriodMs": 300000,
    "onIntensity": "park", "autoShutdown": "any_significant", "onExit": "pass",
    "rules": [{ "match": "net.*", "action": "warn" }]
  },
  "supervisors": {
    "db": {
      "supervisorId": "db",
      "startInfo": {
        "command": "db", "args": ["--port", "5432"], "workingDirectory": "/srv",
        "environment": { "LEVEL": "info" },
        "restartPolicy": {
          "maxAttempts": 7, "resetAfterMs": 60000,
          "backoff": { "initialMs": 1000, "factor": 2, "maxMs": 60000 }
        },
        "exitStatus": { "tempfail": ["75", "100-109"] }
      },
      "restartable": true, "killTimeoutMs": 9000, "heartbeats": true, "onDead": "escalate",
      "alertOn": "final"
    },
    "job": {
      "startInfo": { "command": "job" }, "restart": "transient", "significant": true,
      "keepEndedMs": 3600000, "dependencies": ["db"], "dependenciesCompleted": []
    }
  }
}
EOF
	cat >files/check.json <<'EOF'
{
  "exit": [0, 3], "files": ["made"], "changed": ["*.go"], "contains": { "a.txt": ["^a$", "b"] },
  "absent": { "*_test.go": "Skip" }, "json": { "r.json": { "n": "integer" } },
  "command": ["go", "test", "./..."], "timeoutMs": 60000, "prose": ["It is polite."],
  "uncertain": "block"
}
EOF
	cat >files/rules.json <<'EOF'
{
  "rules": [
    { "decide": "allow", "tool": "Bash", "argv": ["git", "status"], "until": "2027-01-01T00:00:00Z" },
    { "decide": "deny", "argv": ["rm"], "reason": "never" },
    { "decide": "ask", "tool": "Edit" }
  ]
}
EOF
	gets 0 dpl-register --group=declared --file=files/services.json --no-pass
	gets 0 dpl-enqueue --queue=work --id=declared --check=files/check.json -- true
	gets 1 dpl-ask --key=ruled --rules=files/rules.json --allow-writable-rules \
		--input=input.json --question='May I?' --pid=$$
}

DPL_LEDGER=/mnt/ledger
export DPL_LEDGER
operations
every
groups
work
queues
questions
files

DPL_LEDGER=/mnt/linked
linked

cp -a ledger linked files "$out"
