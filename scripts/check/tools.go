package main

import (
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed tools.txt
var list string

// A tool is a line of tools.txt.
type tool struct {
	use, program string
	packages     []string // of Debian; src:NAME is one of sources
	without      string   // what is left out
}

type tools []tool

// readTools returns the tools of tools.txt.
func readTools() (all tools, err error) {
	for line := range strings.Lines(list) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || words[0] == "#" || strings.HasPrefix(line, "#"):
		case len(words) < 4:
			return nil, fmt.Errorf("tools.txt: %q: four columns are expected",
				strings.TrimSpace(line))
		default:
			all = append(all, tool{words[0], words[1], strings.Split(words[2], ","),
				strings.Join(words[3:], " ")})
		}
	}

	return all, nil
}

// missing returns the tools for a use that are not there.
func (all tools) missing(use string) (gone tools) {
	for _, t := range all {
		if t.use == use && !there(t.program) {
			gone = append(gone, t)
		}
	}
	return gone
}

// there reports whether a program is in PATH, or where those of root are; or whether a path exists.
func there(program string) bool {
	if filepath.IsAbs(program) {
		_, err := os.Stat(program)
		return err == nil
	}

	if _, err := exec.LookPath(program); err == nil {
		return true
	}

	for _, dir := range []string{"/usr/local/sbin", "/usr/sbin", "/sbin"} {
		if _, err := exec.LookPath(filepath.Join(dir, program)); err == nil {
			return true
		}
	}

	return false
}

// packages returns the names of the packages that all are in, each once, and apart from them those
// of sources.
func (all tools) packages() (names, sources []string) {
	for _, t := range all {
		for _, name := range t.packages {
			source, is := strings.CutPrefix(name, "src:")
			switch {
			case is && !slices.Contains(sources, source):
				sources = append(sources, source)
			case !is && !slices.Contains(names, name):
				names = append(names, name)
			}
		}
	}
	return names, sources
}

// complete says in one line what is missing for a use, which root has to make, and reports whether
// nothing is.
func (all tools) complete(use string, out io.Writer) bool {
	var wants []string
	if os.Geteuid() != 0 {
		wants = append(wants, "be root")
	}
	names, sources := all.missing(use).packages()
	if len(names) > 0 {
		wants = append(wants, "apt-get install "+strings.Join(names, " "))
	}
	for _, source := range sources {
		wants = append(wants, "sh scripts/upstream/source.sh "+source)
	}
	if len(wants) == 0 {
		return true
	}

	fmt.Fprintf(out, "make soak: cannot begin: %s\n", strings.Join(wants, "; "))
	return false
}
