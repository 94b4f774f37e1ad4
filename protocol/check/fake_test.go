package check

import (
	"errors"
	"path"
	"regexp"
	"slices"
	"strings"
)

// fake is an Attempt of maps. Files that are in none do not exist.
type fake struct {
	exit    *int64
	texts   map[string]string
	errs    map[string]error // of files
	stamps  map[string]Stamp
	broken  map[string]error // by text: why it does not conform
	status  int64
	runErr  error
	ran     int
	touched []string // what was looked at, in order
}

func (f *fake) Exit() (int64, bool) {
	if f.exit == nil {
		return 0, false
	}
	return *f.exit, true
}

func (f *fake) Matches(p Pattern) (all []string, err error) {
	if name, only := p.Path(); only {
		return []string{name}, nil
	}
	if err := f.errs[string(p)]; err != nil {
		return nil, err
	}
	for name := range f.texts {
		if is, _ := path.Match(string(p), name); is {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all, nil
}

func (f *fake) Search(expr *regexp.Regexp, text string) ([]int, error) {
	return expr.FindStringIndex(text), f.errs[text]
}

func (f *fake) Look(path string) (Stamp, error) {
	_, err := f.Read(path)
	return f.stamps[path], err
}

func (f *fake) Read(path string) (string, error) {
	f.touched = append(f.touched, path)
	if err := f.errs[path]; err != nil {
		return "", err
	}
	text, ok := f.texts[path]
	if !ok {
		return "", Fact("it does not exist")
	}
	return text, nil
}

func (f *fake) Conforms(_ Shape, text string) error { return f.broken[text] }

func (f *fake) Run() (int64, string, error) {
	f.ran++
	f.touched = append(f.touched, "command")
	return f.status, "output", f.runErr
}

var errDoubt = errors.New("no permission")

// status returns a pointer to n.
func status(n int64) *int64 { return &n }

// lines returns the findings of r as text, one a line: failures with !, doubts with ?.
func lines(r Report) string {
	var out strings.Builder
	for _, list := range []struct {
		mark string
		all  []Finding
	}{{"!", r.Failed}, {"?", r.Uncertain}} {
		for _, f := range list.all {
			words := []string{list.mark + f.Rule}
			for _, word := range []string{f.File, f.Want} {
				if word != "" {
					words = append(words, word)
				}
			}
			out.WriteString(strings.Join(words, " ") + ": " + f.Found + "\n")
		}
	}
	return out.String()
}
