package main

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// The words that --check takes are the states of operations and services.
func TestCheckTakesEachState(t *testing.T) {
	field, _ := reflect.TypeFor[status]().FieldByName("Check")
	got := strings.Split(strings.TrimSuffix(field.Tag.Get("enum"), ","), ",")
	want := append(slices.Clone(operationStates), serviceStates...)
	slices.Sort(got)
	slices.Sort(want)
	if want = slices.Compact(want); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
