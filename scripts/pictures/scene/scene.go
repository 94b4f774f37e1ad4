// Package scene reads scenes: what is typed in a terminal to make a picture of it.
//
// A scene is a text file of lines, in this order of use:
//
//	# TEXT               a comment
//	title TEXT           the title of the window
//	size COLUMNSxROWS    of the terminal
//	page WIDTHxHEIGHT FILE  draw this HTML file, in pixels, instead of the terminal
//	animated             show how it is typed, not only the end
//	needs PROGRAM...     what the machine must have
//	file NAME MODE       a file; the lines that follow it, after a tab, are its content
//	run COMMAND          what makes the scene ready, run by sh -c
//	pids NUMBER...       shown for processes, in the order in which they appear
//	keep DURATION...     not an age: shown as it is
//	times TIME...        shown for points in time, for one after the other; the last is repeated
//	ages DURATION...     the same for ages and durations, from here on
//	revision N           shown for revisions, from here on, which heartbeats may have raised
//	$ COMMAND            typed at the prompt, and shown with what it prints
//	% COMMAND            typed, but not shown
//	terminal             goes on in a new terminal: what the picture shows until here goes away
//	until COMMAND        goes on when sh -c COMMAND succeeds
//	pause DURATION       after the last command
//
// A number from pids in a command stands for the real process.
package scene

import (
	"cmp"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// A Scene is a read scene.
type Scene struct {
	Name          string
	Title         string
	Columns, Rows int
	Animated      bool
	Page          Page
	Needs         []string
	Files         []File
	PIDs          []string
	Keep          []string
	Times         []string
	Steps         []Step
}

// A Page is a file that a browser shows, of a size in pixels. A scene without one has no file.
type Page struct {
	Width, Height int
	File          string
}

// A File is in the directory of a scene from its beginning.
type File struct {
	Name    string
	Mode    os.FileMode
	Content string
}

// A Kind says what to do in a step.
type Kind int

// The kinds of steps: Shown and Hidden commands are typed, Run and Until are not. Terminal has no
// command.
const (
	Shown Kind = iota
	Hidden
	Run
	Until
	Terminal
)

// A Step is one command.
type Step struct {
	Kind     Kind
	Command  string
	Ages     []string
	Revision string // "": as it is
	Pause    time.Duration
}

// Parse reads a scene. An error names the line.
func Parse(name, text string) (Scene, error) {
	s := Scene{Name: name, Columns: 80, Rows: 24}
	next := Step{}
	for i, line := range strings.Split(text, "\n") {
		word, rest, _ := strings.Cut(line, " ")
		var err error
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "\t"):
			err = s.content(line[1:])
		case word == "ages":
			next.Ages = strings.Fields(rest)
		case word == "revision":
			next.Revision = rest
		default:
			err = s.line(word, rest, next)
		}

		if err != nil {
			return s, fmt.Errorf("%s:%d: %w", name, i+1, err)
		}
	}

	if s.Title == "" || len(s.Steps) == 0 {
		return s, fmt.Errorf("%s: it has no title or no steps", name)
	}
	return s, nil
}

// line reads a line that is not of a file. The next step is like one that was given.
func (s *Scene) line(word, rest string, next Step) (err error) {
	kinds := map[string]Kind{"$": Shown, "%": Hidden, "run": Run, "until": Until,
		"terminal": Terminal}
	switch kind, is := kinds[word]; {
	case is:
		next.Kind, next.Command = kind, rest
		s.Steps = append(s.Steps, next)
	case word == "title":
		s.Title = rest
	case word == "size":
		_, err = fmt.Sscanf(rest, "%dx%d", &s.Columns, &s.Rows)
	case word == "page":
		_, err = fmt.Sscanf(rest, "%dx%d %s", &s.Page.Width, &s.Page.Height, &s.Page.File)
	case word == "animated":
		s.Animated = true
	case word == "needs":
		s.Needs = strings.Fields(rest)
	case word == "pids":
		s.PIDs = strings.Fields(rest)
	case word == "keep":
		s.Keep = strings.Fields(rest)
	case word == "times":
		s.Times = strings.Fields(rest)
	case word == "file":
		err = s.file(rest)
	case word == "pause" && len(s.Steps) > 0:
		s.Steps[len(s.Steps)-1].Pause, err = time.ParseDuration(rest)
	default:
		err = fmt.Errorf("%q: no such word here", word)
	}

	return err
}

func (s *Scene) file(rest string) error {
	name, mode, _ := strings.Cut(rest, " ")
	bits, err := strconv.ParseUint(cmp.Or(mode, "644"), 8, 32)
	s.Files = append(s.Files, File{Name: name, Mode: os.FileMode(bits)})
	return err
}

func (s *Scene) content(line string) error {
	if len(s.Files) == 0 {
		return fmt.Errorf("it belongs to no file")
	}
	s.Files[len(s.Files)-1].Content += line + "\n"
	return nil
}
