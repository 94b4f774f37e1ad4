// Docs makes the manual pages, pages of HTML and completions of the dpl commands from their output
// with --help --json.
//
//	go run ./scripts/docs [-out DIR] [-date YYYY-MM-DD] [-version VERSION] BIN
//
// It runs each BIN/dpl-* and writes DIR/man/man1, man5 and man7, DIR/doc/dpl/html,
// DIR/bash-completion/completions, DIR/zsh/site-functions and DIR/fish/vendor_completions.d. All
// other text is in files beside this one: notes/COMMAND.txt, and the pages dpl.1, which is left out
// without BIN/dpl, *.5 and *.7. The same input makes the same bytes.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

func main() {
	out := flag.String("out", "bin/share", "where to write")
	date := flag.String("date", "", "of the pages: YYYY-MM-DD ($SOURCE_DATE_EPOCH, else that of "+
		"today)")
	version := flag.String("version", "unknown", "of the commands")
	flag.Parse()
	if err := run(*out, *date, *version, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "docs:", err)
		os.Exit(1)
	}
}

func run(out, date, version string, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("want one directory of commands, not %q", args)
	}

	day, err := dayOf(date, os.Getenv("SOURCE_DATE_EPOCH"))
	if err != nil {
		return err
	}

	commands, err := load(args[0], ".")
	if err != nil {
		return err
	}

	_, err = os.Stat(filepath.Join(args[0], "dpl"))
	g := generator{commands: commands, umbrella: err == nil, day: day, version: version}
	files, err := g.all()
	if err != nil {
		return err
	}

	for path, text := range files {
		path = filepath.Join(out, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}

	return nil
}

// dayOf returns the day that a flag gives, or else epoch, a number of seconds, or else today.
func dayOf(date, epoch string) (time.Time, error) {
	switch {
	case date != "":
		return time.Parse(time.DateOnly, date)
	case epoch != "":
		seconds, err := strconv.ParseInt(epoch, 10, 64)
		return time.Unix(seconds, 0).UTC(), err
	}
	return time.Now().UTC(), nil
}

// A generator makes all files of one version.
type generator struct {
	commands []*command
	umbrella bool // there is a dpl
	day      time.Time
	version  string
}

// all returns the texts of all files by their paths.
func (g *generator) all() (map[string]string, error) {
	files := make(map[string]string)
	for _, c := range g.commands {
		page, err := g.page(c)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Program, err)
		}
		files["man/man1/"+c.Program+".1"] = page
	}

	if err := g.written(files); err != nil {
		return nil, err
	}

	if err := g.html(files); err != nil {
		return nil, err
	}

	for path, text := range g.completions() {
		files[path] = text
	}

	return files, nil
}

// written adds the pages written by hand, with their gaps filled in.
func (g *generator) written(files map[string]string) error {
	pages, err := written.ReadDir(".")
	if err != nil {
		return err
	}

	fill := strings.NewReplacer("@DATE@", g.day.Format("January 2, 2006"), "@VERSION@", g.version,
		"@STATUSES@\n", mdocStatuses(g.commands),
		"@COMMANDS@\n", mdocCommands(g.commands))
	for _, page := range pages {
		section := strings.TrimPrefix(filepath.Ext(page.Name()), ".")
		if page.IsDir() || section == "1" && !g.umbrella {
			continue
		}

		text, err := written.ReadFile(page.Name())
		if err != nil {
			return err
		}

		files["man/man"+section+"/"+page.Name()] = fill.Replace(string(text))
	}

	return nil
}
