package audit

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/dpl-project/dpl/protocol/observe"
)

// Whoever makes an edit is found again in its line, whatever that leaves out, also if the log was sealed
// before some line and begins there; and a line leaves something out.
func TestAuthors(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"", "a", `"revision":`, "b"})
		number := rapid.SampledFrom([]int64{0, 1, 2})
		var c Chain
		var authors Authors
		for range rapid.IntRange(1, 30).Draw(t, "lines") {
			want := By{Participant: word.Draw(t, "participant"), User: word.Draw(t, "user"),
				Command: word.Draw(t, "command"), Process: observe.Process{
					PID: int(number.Draw(t, "pid")), HostID: word.Draw(t, "host"), BootID: word.Draw(t, "boot"),
					PIDNamespace: word.Draw(t, "namespace"), StartTicks: number.Draw(t, "ticks"),
					PidfdInode: number.Draw(t, "inode")}}
			verb := rapid.SampledFrom([]string{"touch", "touch", "touch", Sealed}).Draw(t, "verb")
			if rapid.IntRange(0, 9).Draw(t, "synced") == 0 {
				c.Pending = nil
			}
			if verb == Sealed {
				authors = Authors{}
			}
			c = c.Append(Entry{At: time.Unix(0, 0), Verb: verb, By: want})
			l, err := Parse(c.Pending[len(c.Pending)-1])
			if err != nil || !authors.Resolve(&l) || l.By != want {
				t.Fatalf("%s: %v: got %+v, want %+v", l.Text, err, l.By, want)
			}
		}
	})

	at := time.Unix(0, 0)
	c := Chain{}.Append(Entry{At: at, By: By{Command: "dpl-claim q", User: "0"}})
	c = c.Append(Entry{At: at, By: By{Command: "dpl-claim q", User: "0"}})
	if long, short := c.Pending[0], c.Pending[1]; len(short) > len(long)+len(`"prev":"",`+c.Head)-20 {
		t.Errorf("%s leaves nothing out", short)
	}
}
