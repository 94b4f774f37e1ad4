package group

import (
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/testscripts/vectors"
)

var recordShape = vectors.Object("$schema protocolVersion supervisorId startId attempt pid phase "+
	"keeperSignalled at reason code status error oomKilled cpuMs maxRssKb finishStatus",
	map[string]*vectors.Shape{"process": vectors.ProcessShape})

// longest returns a record whose text is as long as it may be.
func longest() ExitRecord {
	const most = 1<<63 - 1
	odd := strings.Repeat("\x01", 128)
	return ExitRecord{
		ServiceID: strings.Repeat("s", 128), StartID: strings.Repeat("f", 16), Attempt: most, PID: most,
		Process: observe.Process{PID: most, HostID: odd, BootID: strings.Repeat("b", 64),
			PIDNamespace: strings.Repeat("4", 20), StartTicks: most},
		Phase: PhaseEnded, KeeperSignalled: true,
		End: policy.Exit{At: time.Date(2026, 1, 1, 0, 0, 0, 999e6, time.UTC), Reason: policy.StartFailed,
			Code: policy.CodeExited, Status: most, Error: strings.Repeat("\x01", 5000), OOMKilled: true,
			CPU: most, MaxRSS: most, FinishStatus: policy.FinishTimedOut},
	}
}

// Every record has the same size, so that writing one over another needs no room on the disk; and
// what does not fit is cut.
func TestExitRecordSize(t *testing.T) {
	t.Parallel()
	for _, x := range []ExitRecord{
		{ServiceID: "s", StartID: "0123456789abcdef", Phase: PhaseReserved}, longest(),
	} {
		text := x.Encode()
		if len(text) != ExitRecordSize || !strings.HasSuffix(text, "\n") {
			t.Errorf("%d bytes: %s", len(text), text)
		}

		again, err := DecodeExitRecord(text)
		if err != nil || again.Encode() != text {
			t.Errorf("decoded again: %v\n%s", err, again.Encode())
		}
	}
}

// A text that was cut off anywhere is no record, and above all not one with another status.
func TestTornExitRecord(t *testing.T) {
	t.Parallel()
	before := ExitRecord{ServiceID: "s", StartID: "0123456789abcdef", PID: 7, Phase: PhaseExec}
	after := before
	after.Phase = PhaseEnded
	after.End = policy.Exit{At: time.Unix(1e9, 0).UTC(), Reason: policy.Exited,
		Code: policy.CodeExited, Status: 175}
	old, text := before.Encode(), after.Encode()
	whole := strings.Index(text, "}") + 1

	for n := range whole {
		x, err := DecodeExitRecord(text[:n] + old[n:])
		if err == nil && x.Phase != PhaseExec {
			t.Errorf("the first %d bytes are %+v", n, x)
		}
	}
}

func TestExitRecordKeepsUnknown(t *testing.T) {
	t.Parallel()
	const text = `{"supervisorId": "s", "startId": "0123456789abcdef", "phase": "ended", "x": [1.0, -0],
		"at": "2026-01-20T10:30:00Z", "process": {"pid": 1, "bootId": "b", "y": {"z": 1e5}}}`
	x, err := DecodeExitRecord(text)
	if err != nil {
		t.Fatal(err)
	}
	vectors.CheckKeeps(t, text, x.Encode(), recordShape)
}
