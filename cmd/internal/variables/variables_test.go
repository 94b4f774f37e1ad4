package variables

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestEnviron: what belongs to an object that is replaced is left out, and nothing else.
func TestEnviron(t *testing.T) {
	ledger, other := t.TempDir(), t.TempDir()
	env := []string{"DPL_LEDGER=" + ledger, "HOME=/h", "DPL_OP=o", "DPL_RUN=r", "DPL_CALL=c", "DPL_TMP=/t",
		"DPL_PARTICIPANT=p", "DPL_GROUP=g", "DPL_SERVICE=s", "DPL_SUPERVISOR=s", "DPL_EXIT_CODE=0", "DPL_QUEUE=q",
		"DPL_TASK=t", "DPL_EPOCH=1", "DPL_SPEC=/s", "DPL_START=m", "DPL_SYNC=none"}
	for _, c := range []struct{ set, stale []string }{
		{[]string{"HOME=/other"}, nil},
		{[]string{"DPL_LEDGER=" + ledger + "/."}, nil},
		{[]string{"DPL_OP=o", "DPL_CALL=d"}, []string{"DPL_RUN", "DPL_TMP", "DPL_PARTICIPANT"}},
		{[]string{"DPL_GROUP=h"}, []string{"DPL_SERVICE", "DPL_SUPERVISOR", "DPL_EXIT_CODE"}},
		{[]string{"DPL_GROUP=g", "DPL_SERVICE=s"}, nil},
		{[]string{"DPL_GROUP=g", "DPL_SERVICE=t"}, []string{"DPL_EXIT_CODE"}},
		{[]string{"DPL_QUEUE=q"}, []string{"DPL_TASK", "DPL_EPOCH", "DPL_SPEC"}},
		{[]string{"DPL_TASK=u"}, []string{"DPL_EPOCH", "DPL_SPEC"}},
		{[]string{"DPL_LEDGER=" + other, "DPL_OP=x"}, []string{"DPL_RUN", "DPL_CALL", "DPL_TMP",
			"DPL_PARTICIPANT", "DPL_GROUP", "DPL_SERVICE", "DPL_SUPERVISOR", "DPL_EXIT_CODE", "DPL_QUEUE",
			"DPL_TASK",
			"DPL_EPOCH", "DPL_SPEC"}},
	} {
		if got := Stale(env, c.set...); !slices.Equal(got, c.stale) {
			t.Errorf("%q: stale: got %q, want %q", c.set, got, c.stale)
		}

		got := Environ(env, c.set...)
		want := slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
			return slices.ContainsFunc(c.stale, func(name string) bool { return has([]string{entry}, name) }) ||
				slices.ContainsFunc(c.set, func(s string) bool { return value([]string{s}, nameOf(entry)) != "" })
		})
		if want = append(want, c.set...); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", c.set, got, want)
		}
	}
}

func nameOf(entry string) string {
	for i := range entry {
		if entry[i] == '=' {
			return entry[:i]
		}
	}
	return entry
}

// TestSameLedger: a directory is the same by whatever name, also if there is none yet.
func TestSameLedger(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.Mkdir("a", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a", "link"); err != nil {
		t.Skip(err)
	}
	for _, c := range []struct {
		dir, variable string
		same          bool
	}{
		{"a", "", true}, {"a", "a", true}, {"./a/", filepath.Join(dir, "a"), true},
		{"link", "a", true}, {"none", filepath.Join(dir, "none"), true}, {"none", "a", false},
		{"a", dir, false},
	} {
		if got := SameLedger(c.dir, c.variable); got != c.same {
			t.Errorf("%q, $DPL_LEDGER %q: got %v", c.dir, c.variable, got)
		}
	}
}
