//go:build unix

package testscripts

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// watching reads operation files until it is stopped.
type watching struct {
	quit  chan struct{}
	done  sync.WaitGroup
	looks int
	err   error
}

func watch(ts *testscript.TestScript, args []string) error {
	w := &watching{quit: make(chan struct{})}
	stateOf(ts).watching = w
	dir := ts.Getenv("OPS")
	w.done.Go(func() {
		revisions := make(map[string]int)
		for w.err == nil {
			select {
			case <-w.quit:
				return
			case <-time.After(time.Millisecond):
				w.err = w.look(dir, revisions)
			}
		}
	})

	return nil
}

func (w *watching) look(dir string, revisions map[string]int) error {
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return err
	}

	for _, path := range paths {
		op, err := readOperation(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if op.Revision < revisions[path] {
			return fmt.Errorf("%s went back from revision %d to %d", path, revisions[path],
				op.Revision)
		}

		revisions[path] = op.Revision
		w.looks++
	}

	return nil
}

func (w *watching) stop() {
	close(w.quit)
	w.done.Wait()
}

func watched(ts *testscript.TestScript, args []string) error {
	w := stateOf(ts).watching
	if len(args) != 1 || w == nil {
		return errUsage
	}

	stateOf(ts).watching = nil
	w.stop()
	least, err := strconv.Atoi(args[0])

	switch {
	case w.err != nil:
		return w.err
	case err == nil && w.looks < least:
		err = fmt.Errorf("only %d looks", w.looks)
	}

	ts.Logf("%d looks", w.looks)

	return err
}
