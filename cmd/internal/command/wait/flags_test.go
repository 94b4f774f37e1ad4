package wait

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/queue"
)

// The words that --for takes are the goals.
func TestForTakesEachGoal(t *testing.T) {
	field, _ := reflect.TypeFor[wait]().FieldByName("For")
	var want []string
	for _, goal := range protocol.Goals() {
		want = append(want, string(goal))
	}
	for _, goal := range queue.WaitGoals() {
		if !slices.Contains(want, string(goal)) {
			want = append(want, string(goal))
		}
	}
	if got := field.Tag.Get("enum"); got != strings.Join(want, ",")+"," {
		t.Errorf("got %s, want %s", got, want)
	}
}
