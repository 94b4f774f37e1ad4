package lanes

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/cmd/internal/cli"
)

var update = flag.Bool("update", false, "write the tables of TestVariables anew")

// inside is the environment of a process in an attempt, which a service of a group makes.
var inside = map[string]string{
	"DPL_LEDGER": "/ledger", "DPL_OP": "op", "DPL_CALL": "call", "DPL_PARTICIPANT": "participant",
	"DPL_GROUP": "group", "DPL_SERVICE": "service", "DPL_SUPERVISOR": "service",
	"DPL_QUEUE": "queue", "DPL_TASK": "task", "DPL_EPOCH": "1",
}

// lines are what a person may give: an object, the one of the environment or another, or none.
var lines = []string{
	"", "--op op", "--op other", "--call other", "--op op --call other", "--participant other",
	"--group group", "--group other", "--service other", "--supervisor other",
	"--group other --service other", "--queue queue", "--queue other", "--task task",
	"--task other", "--queue other --task task", "--epoch 2", "--ready other", "--ended other",
	"--check", "--groups", "--queues", "--all", "--ids", "--name other", "--runs",
	"--ledger /ledger", "--ledger /other", "--ledger /other --op op", "--ledger /other --queue queue",
	"--ledger /other --group group",
}

// Variables compares with variables/COMMAND.txt which flags of the command program
// get their values from the environment, for each of lines; and the fast lane with kong. zero
// returns a new command.
func Variables(t *testing.T, program string, zero func() cli.Command) {
	var table strings.Builder
	for _, line := range lines {
		row(t, &table, program, zero, line, "")
	}
	for _, variable := range variables {
		if _, is := inside[variable]; is && variable != "DPL_LEDGER" {
			row(t, &table, program, zero, "", variable)
			row(t, &table, program, zero, "--op other", variable)
			row(t, &table, program, zero, "--group other", variable)
			row(t, &table, program, zero, "--queue other", variable)
		}
	}

	path := filepath.Join(root, "cmd", "internal", "cli", "lanes", "variables", program+".txt")
	if *update {
		if err := os.WriteFile(path, []byte(table.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || table.String() != string(want) {
		t.Errorf("%s: %v: it is not as the command has it: compare, and run go test -run "+
			"TestVariables -args -update: got\n%s", path, err, table.String())
	}
}

// row adds to table which variables are used with the flags of line, where all of inside are set, or
// only the one given. It adds nothing if the command does not have the flags, or that has no use.
func row(t *testing.T, table *strings.Builder, program string, zero func() cli.Command,
	line, only string) {
	for name, value := range inside {
		if only != "" && name != only {
			value = ""
		}
		t.Setenv(name, value)
	}

	args := strings.Fields(line)
	used, has := cli.Used(zero(), args)
	if !has {
		return
	}
	where := "inside"
	if only != "" {
		where = "only $" + only
	}
	if only == "" || len(used) > 0 {
		text := fmt.Sprintf("%-24s %-32s %s", where, line, strings.Join(used, " "))
		table.WriteString(strings.TrimRight(text, " ") + "\n")
	}

	got, want := zero(), zero()
	fast, err := cli.FastLane(got, args), cli.Kong(want, program, args)
	for _, c := range []cli.Command{got, want} {
		for _, flag := range cli.Filled(c) {
			if !slices.Contains(used, flag) && !slices.Contains(args, "--"+flag) &&
				!slices.Contains(args, "--supervisor") { // which may stand for --service
				t.Errorf("%s %q: --%s has a value from the environment", where, args, flag)
			}
		}
	}
	if fast && (err != nil || !reflect.DeepEqual(got, want)) {
		t.Errorf("%s %q: the fast lane has %+v, kong %+v (%v)", where, args, got, want, err)
	}
}
