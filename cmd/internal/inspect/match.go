package inspect

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/dpl-project/dpl/protocol/check"
)

func (a *Attempt) matches(p check.Pattern) ([]string, error) {
	if name, only := p.Path(); only {
		return []string{name}, nil
	}

	w := walk{root: a.root}
	if err := w.descend(".", strings.Split(string(p), "/")); err != nil {
		return nil, err
	}
	slices.Sort(w.found)
	return w.found, nil
}

// A walk looks for the files of one pattern.
type walk struct {
	root  *os.Root
	names int // how many it has read in directories
	found []string
}

// descend finds what components match in dir.
func (w *walk) descend(dir string, components []string) error {
	names, err := w.list(dir, components[0])
	if err != nil {
		return err
	}

	for _, name := range names {
		err := w.visit(path.Join(dir, name), components[1:])
		if err != nil {
			return err
		}
	}
	return nil
}

// visit finds what components match in the directory at name, or name itself if there are none.
func (w *walk) visit(name string, components []string) error {
	info, err := w.root.Stat(name)
	switch {
	case err == nil && info.IsDir() && len(components) > 0:
		return w.descend(name, components)
	case err == nil && (info.IsDir() || len(components) > 0):
		return nil
	case len(components) > 0:
		return doubt(factOf(err))
	}

	if _, err := w.root.Lstat(name); err != nil {
		return doubt(factOf(err))
	}
	if w.found = append(w.found, name); len(w.found) > check.MaxMatches {
		return fmt.Errorf("more than %d files match", check.MaxMatches)
	}
	return nil
}

// doubt returns err, or nil if it is a fact: then there is nothing to be found.
func doubt(err error) error {
	if _, ok := errors.AsType[check.Fact](err); ok {
		return nil
	}
	return err
}

// list returns the names in dir that component matches.
func (w *walk) list(dir, component string) (matching []string, err error) {
	if name, only := check.Pattern(component).Path(); only {
		return []string{name}, nil
	}

	d, err := w.root.OpenFile(dir, os.O_RDONLY|atOnce, 0)
	if err != nil {
		return nil, doubt(factOf(err))
	}
	defer d.Close()

	for {
		names, err := d.Readdirnames(1000)
		for _, name := range names {
			if is, _ := path.Match(component, name); is { // the pattern is a good one
				matching = append(matching, name)
			}
		}

		w.names += len(names)
		switch {
		case w.names > check.MaxNames:
			return nil, fmt.Errorf("more than %d names in its directories", check.MaxNames)
		case err == io.EOF:
			return matching, nil
		case err != nil:
			return nil, factOf(err)
		}
	}
}
