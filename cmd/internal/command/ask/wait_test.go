package ask

import (
	"testing"

	"github.com/dpl-project/dpl/protocol/queue"
)

// A yes in a file that somebody has edited may have no decision: it does not count.
func TestNoDecision(t *testing.T) {
	t.Parallel()
	a := &asking{flags: &ask{}, signers: "signers"}
	yes := queue.Ended{ID: "qabcdefghij", End: queue.EndedAllowed}
	if err := a.checkShown(yes); err == nil {
		t.Error("it is what was asked")
	}
	if err := a.checkSignature(yes); err == nil {
		t.Error("it is signed")
	}
}
