package simulation

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

// The events in histories. Each must happen, or it is not tested.
const (
	didKill = iota
	didENOSPC
	didEIO
	didLateEIO
	didPowerLoss
	didHostCrash
	didClockStep
	didSuspend
	didPause
	didExpire
	didWait
	didTimeOut
	didReusePID
	didOrphanStage
	didStartEmpty
	didCreate
	didCrash
	didExited
	didRebooted
	didStale
	didSupervisorDead
	didGrace
	didGraceOver
	didNeighbour
	didAck
	didHandle
	didArchive
	didRegister
	didPass
	didStandBy
	didSpawn
	didSpawnFail
	didRelease
	didReleaseFail
	didComeTooLate
	didTerm
	didSigkill
	didSurvivors
	didAmidExec
	didAlert
	didShutdown
	didRestart
	didServiceBeat
	didDeclareDead
	didExecFail
	didKeeperKilled
	didKeeperStopped
	didRecord
	didStatusKnown
	didSibling
	didCharge
	didTimeout
	didWindowFull
	didBegin
	didEndGroup
	didEndTaken
	didBetween
	didBeginRun
	didEndDead
	didRunning
	didStopping
	didSupervised
	didOldRun
	didFail
	didCause
	didShutDown
	didBelie
	didMaintain
	didRest
	dids
)

var didNames = [dids]string{
	"killed command", "ENOSPC", "EIO", "late EIO", "power loss", "host crash", "clock step",
	"suspend", "paused lock holder", "expired lease",
	"wait for a lock", "lock timeout", "pid used again", "stage without its pass",
	"race to create the ledger", "operation created", "crashed frame read", "evidence exited",
	"evidence rebooted", "evidence stale", "evidence supervisorDead", "grace granted",
	"stale after a grace", "tick of a neighbour", "ack", "handler", "archived",
	"registered", "pass", "stand-by", "stage spawned", "spawn failed", "released", "exec failed",
	"released too late", "TERM", "KILL", "survivors of a session", "member amid execve",
	"alert", "shutdown", "restart", "beat of a registered supervisor", "supervisor given up",
	"command not executed", "keeper killed", "keeper stopped", "end recorded", "status known",
	"sibling stops", "failure charged", "runtime over", "window full",
	"group begun", "group asked to end", "end of a group taken",
	"pause between two groups",
	"run begun", "dead run ended", "start refused: running", "start refused: stopping",
	"start refused: supervised", "verb for an old run", "call failed", "cause of a crash",
	"orderly shutdown", "record of a living process", "maintenance", "service left alone",
}

var didEvidence = map[observe.Evidence]int{
	observe.Exited: didExited, observe.Rebooted: didRebooted, observe.Stale: didStale,
	observe.SupervisorDead: didSupervisorDead,
}

// stats counts what has happened.
type stats struct {
	histories int
	calls     int
	kinds     map[string]int
	did       [dids]int
	exits     [256]int
}

func (w *world) did(what int) { w.stats.did[what]++ }

// didRefuse counts the refusal of the start of a run.
func (w *world) didRefuse(err error) {
	for refusal, what := range map[error]int{protocol.ErrRunning: didRunning,
		protocol.ErrStopping: didStopping, protocol.ErrSupervised: didSupervised} {
		if errors.Is(err, refusal) {
			w.did(what)
		}
	}
}

func (w *world) didExit(status int) { w.stats.exits[status]++ }

func (s *stats) add(other *stats) {
	s.histories += other.histories
	s.calls += other.calls
	for k, n := range other.kinds {
		s.kinds[k] += n
	}

	for i, n := range other.did {
		s.did[i] += n
	}

	for i, n := range other.exits {
		s.exits[i] += n
	}
}

func (s *stats) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d histories, %d system calls\n", s.histories, s.calls)
	var names []string
	for k := range s.kinds {
		names = append(names, k)
	}

	sort.Strings(names)
	for _, k := range names {
		fmt.Fprintf(&b, "  %-34s%12d\n", k, s.kinds[k])
	}

	for i, n := range s.did {
		fmt.Fprintf(&b, "  %-34s%12d\n", didNames[i], n)
	}

	for status, n := range s.exits {
		if n > 0 {
			fmt.Fprintf(&b, "  exit status %-22d%12d\n", status, n)
		}
	}

	return b.String()
}

// rare is what happens less than once in 500 histories.
var rare = []int{didSibling, didHandle}

// missing returns what has never happened in histories that must have had it.
func (s *stats) missing() (names []string) {
	for i, n := range s.did {
		few := 3000
		if slices.Contains(rare, i) {
			few = 20_000
		}
		if n == 0 && s.histories > few {
			names = append(names, didNames[i])
		}
	}
	return names
}
