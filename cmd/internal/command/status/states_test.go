package status

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// The words that --check takes are the states of operations, services, groups and queues.
func TestCheckTakesEachState(t *testing.T) {
	field, _ := reflect.TypeFor[status]().FieldByName("Check")
	got := strings.Split(strings.TrimSuffix(field.Tag.Get("enum"), ","), ",")
	want := slices.Concat(operationStates, serviceStates, groupStates, queueStates)
	slices.Sort(got)
	slices.Sort(want)
	if want = slices.Compact(want); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
