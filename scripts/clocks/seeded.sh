#!/bin/sh
# seeded.sh [NAME...]: show that the tests of identity and clocks can fail.
#
# It seeds one fault at a time in a copy of a source file (go's -overlay), runs the test that must
# find it, and prints a line. It exits 1 if a test passes nevertheless, or if a fault no longer fits
# the sources. Each fault takes about ten seconds.
set -u
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd -P)
dir=$(mktemp -d "${TMPDIR:-/tmp}/dpl-seeded.XXXXXX") || exit 1
trap 'rm -rf --one-file-system "$dir"' EXIT
trap 'exit 130' HUP INT TERM
wanted=" $* "
found=0
missed=0

# seed NAME FILE PERL TEST: check that TEST fails when PERL changes the text of FILE
seed() {
    case $wanted in
    '  ' | *" $1 "*) ;;
    *) return 0 ;;
    esac
    perl -0pe "$3" "$root/$2" >"$dir/changed.go"
    if cmp -s "$root/$2" "$dir/changed.go"; then
        echo "MISSED  $1: it does not fit $2 any more"
        missed=$((missed + 1))
        return
    fi
    printf '{"Replace": {"%s": "%s"}}\n' "$root/$2" "$dir/changed.go" >"$dir/overlay.json"
    export GOFLAGS="-overlay=$dir/overlay.json"
    (cd "$root" && go build ./cmd/...) >"$dir/said" 2>&1 || {
        echo "MISSED  $1: $(tail -n 1 "$dir/said")"
        missed=$((missed + 1))
        return
    }
    (cd "$root" && go test -count=1 ./testscripts -run "$4" -v) >"$dir/said" 2>&1
    if grep -q '^ *--- FAIL: ' "$dir/said"; then
        echo "found   $1: $(awk '/^ *--- FAIL: / { print $3 }' "$dir/said" | sort -u | tail -n 1)"
        found=$((found + 1))
        return
    fi
    echo "MISSED  $1: $4"
    tail -n 5 "$dir/said" | sed 's/^/        | /'
    missed=$((missed + 1))
}

# shellcheck disable=SC2016 # $1 is Perl's
{
    process=cmd/internal/process
    seed pid-alone $process/identity_linux.go \
        's/p\.PidfdInode != 0/false/;
        s/case s\.startTicks != p\.StartTicks:/case s.startTicks < 0:/' \
        '^TestIdentity$/^recycled$'
    seed zombie-lives $process/watch_linux.go \
        's/return n > 0/return false/' \
        '^TestIdentity$/^zombies$'
    seed not-checked $process/signal_linux.go \
        's/case found\.Is\(p\):/case found.PID == p.PID:/' \
        '^TestIdentity$/^window$'
    seed by-number $process/signal_linux.go '
        s/w\.Signal\(sig\)/unix.Kill(p.PID, sig)/;
        s/unix\.PidfdSendSignal\(int\(fd\), sig, nil, flags\)/unix.Kill(-pid, sig)/' \
        '^TestIdentity$/^window$'
    seed while-pid-by-number $process/watch_linux.go '
        s/(done +chan struct\{\}\n)/$1\tpid int\n/;
        s/return watch\(fd\)\n/w, err := watch(fd)\n\tif err == nil {\n\t\tw.pid = pid\n\t}\n\treturn w, err\n/;
        s/if !ended\(fd\) \{\n(\t+)err = unix.PidfdSendSignal\(int\(fd\), sig, nil, 0\)/if true {\n$1err = unix.Kill(w.pid, sig)/' \
        '^TestIdentity$/^recycled$'

    evidence=protocol/observe/evidence.go
    seed other-pid-namespace $evidence \
        's/p\.PIDNamespace != "" && p\.PIDNamespace == here\.PIDNamespace/true/' \
        '^TestIdentity$/^(elsewhere|inside)$'
    seed other-host $evidence \
        's/ \|\| p\.HostID != seen\.Host\.ID//; s/ && p\.HostID == here\.ID//' \
        '^TestIdentity$/^host_name$'
    seed boot-ignored $evidence '
        s/p\.BootID != "" && p\.BootID == here\.BootID/true/;
        s/p\.BootID != seen\.Host\.BootID && /false && /' \
        '^TestIdentity$/^boot$'
    seed other-boot-is-dead $evidence \
        's/ && \(v\.LastHeartbeat\.IsZero\(\) \|\|\s+v\.LastHeartbeat\.Before\(seen\.Host\.BootedAt\)\)//' \
        '^TestIdentity$/^boot$'
    seed time-namespace $process/clock_linux.go \
        's/return err == unix\.ENOENT \|\| .*/return err == nil || target != ""/' \
        '^TestIdentity$/^time$'
    observation=protocol/observe/observation.go
    seed wall-clock $observation \
        's/return beat\.BootID != "" && /return false \&\& beat.BootID != "" \&\& /' \
        '^TestClockSteps$'
    seed wall-clock-of-groups $observation \
        's/return beat\.BootID != "" && /return false \&\& beat.BootID != "" \&\& /' \
        '^TestClockStepsGroup$'
    seed beat-of-any-boot $observation \
        's/ && beat\.BootID == seen\.Host\.BootID//' \
        '^TestClockReboot$'
    seed future-is-fresh $evidence \
        's/ \|\| age < -threshold//' \
        '^TestClockReboot$'
    seed monotonic-reversed $observation '
        s/ && seen\.MonotonicMs >= beat\.MonotonicMs//;
        s/ && beat\.BootID == seen\.Host\.BootID//' \
        '^TestClockReboot$'

    judge=protocol/queue/judge.go
    old='s/\tif c\.Deadline > 0 && \(Timer/\tif observe.IsStale(seen.Age(c.At, c.Beat), 24*time.Hour) {
        return Crashed, "stale"\n\t}\n$&/'
    seed old-claim $judge "$old" '^TestScripts$/^alive$/^suspended_claims$'
    seed old-claim-elsewhere $judge "$old" '^TestIdentity$/^claims_of_hosts$'
    seed claim-of-any-wall-clock $judge \
        's/(LastHeartbeat: c\.At,) Beat: c\.Beat(\}\n\tswitch evidence := )seen\.Gone\(runner\)/$1 Beat: c.Beat$2seen.Stale(runner)/;
        s/$/\nfunc (seen Seen) Stale(v observe.Vitals) observe.Evidence {
        if e := seen.Gone(v); e != "" || !observe.IsStale(seen.Now.Sub(v.LastHeartbeat), time.Minute) {
            return e\n\t}\n\treturn observe.Stale\n}\n/' \
        '^TestClockClaims$'
    seed claim-of-other-pid-namespace $evidence \
        's/p\.PIDNamespace != "" && p\.PIDNamespace == here\.PIDNamespace/true/' \
        '^TestIdentity$/^claims_(elsewhere|inside)$'
    seed claim-of-other-host $evidence \
        's/ \|\| p\.HostID != seen\.Host\.ID//; s/ && p\.HostID == here\.ID//' \
        '^TestIdentity$/^claims_of_hosts$'
    seed claim-of-no-boot $evidence '
        s/p\.BootID != "" && p\.BootID == here\.BootID/true/;
        s/p\.BootID != seen\.Host\.BootID && /false && /' \
        '^TestIdentity$/^claims_of_boots$'
    seed claim-of-other-boot-is-over $evidence \
        's/ && \(v\.LastHeartbeat\.IsZero\(\) \|\|\s+v\.LastHeartbeat\.Before\(seen\.Host\.BootedAt\)\)//' \
        '^TestIdentity$/^claims_of_boots$'
    seed reboot-is-charged $judge 's/if evidence == observe\.Rebooted/if false/' \
        '^TestIdentity$/^claims_of_boots$'
    seed reboot-is-charged-of-clocks $judge 's/if evidence == observe\.Rebooted/if false/' \
        '^TestClockReboot$'
    seed claim-of-dead-keeper $judge 's/return seen\.Gone\(v\) != ""/return seen.Gone(v) == "never"/' \
        '^TestIdentity$/^recycled$'
    seed silent-call fileops/queue_look.go \
        's/after\.Revision == op\.Revision && !news/after.Revision >= 0 || news/' \
        '^TestIdentity$/^claims_silent$'
    seed silent-call-of-cron cmd/internal/command/run/workers.go 's/w\.ledger\.LookAfter\(q, w\.env\.Program\)//' \
        '^TestIdentity$/^claims_silent$'
    seed wall-clock-of-timers protocol/queue/timer.go \
        's/seen\.Age\(t\.At, t\.Beat\)/seen.Age(t.At, observe.Beat{})/' \
        '^TestClockClaims$'
    seed wall-clock-of-queues $observation \
        's/return beat\.BootID != "" && /return false \&\& beat.BootID != "" \&\& /' \
        '^TestClockStepsQueue$'
}

echo "seeded: $found found, $missed missed"
[ "$missed" = 0 ] && [ "$found" -gt 0 ]
