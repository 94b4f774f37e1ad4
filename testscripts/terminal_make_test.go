//go:build linux

package testscripts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/testscripts/strict"
)

// Ctrl-C reaches make and all recipes of dpl.mk, also if each recipe handles it. A recipe that reads
// from the terminal gets what is typed.
func typesForMake(t *testing.T, y *typist) {
	strict.Program(t, "make")
	const rules = `.SHELLFLAGS = $(dpl_call)
asks: ; @echo ques""tion; read line; echo "got $$line"
all: a b
	@echo goes" "on
a b: ; @trap 'echo $@ trap""ped; exit 0' INT; : >$@; echo $@ rea""dy; while :; do sleep 0.01; done
`
	mk, err := filepath.Abs("../scripts/dpl.mk")
	if err == nil {
		err = os.WriteFile(filepath.Join(y.cmd.Dir, "Makefile"), []byte("include "+mk+"\n"+rules), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}

	y.enter(t, "dpl-run --op ask -- make; echo status\" \"$?")
	y.hear(t, "question")
	y.enter(t, "hello")
	y.hear(t, "got hello")
	y.hear(t, "status 0")

	// If all children end just when make learns of Ctrl-C, make fails, with or without dpl-run.
	said := "No child processes"
	for strings.Contains(said, "No child processes") {
		before := len(y.seen())
		y.enter(t, "dpl-run --op build --call c -- make -k -j2 all; echo goes\" \"on")
		y.hear(t, "ready")
		y.hear(t, "ready")
		y.press(t, ctrlC)
		y.hear(t, "trapped")
		y.hear(t, "trapped")
		y.hear(t, "$ ")
		said = y.seen()[before:]
	}
	if strings.Contains(said, "goes on") {
		t.Errorf("it goes on: %q", said)
	}
	y.failed(t, "call c: killed by SIGINT")
}
