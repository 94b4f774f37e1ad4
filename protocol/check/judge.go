package check

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// An Attempt is what there is to look at. Its paths are relative, with slashes. Its methods return
// a [Fact] for what breaks a rule, and another error if they cannot tell.
type Attempt interface {
	// Exit returns the exit status, unless it is not known.
	Exit() (status int64, known bool)

	// Matches returns the files that p names, sorted. If p has no *, ? or [ ] it is the one path,
	// whether or not there is such a file.
	Matches(p Pattern) ([]string, error)

	// Look returns what tells a changed file from an unchanged one. It returns a Fact unless path
	// is a regular file in the directory.
	Look(path string) (Stamp, error)

	// Read returns the content of the regular file, of at most MaxText bytes.
	Read(path string) (string, error)

	// Search returns where expr first matches in text, or nil.
	Search(expr *regexp.Regexp, text string) (at []int, err error)

	// Conforms returns a Fact unless text conforms to the schema of s.
	Conforms(s Shape, text string) error

	// Run runs the command of the rules, and returns the end of its output. It returns an error
	// unless the command has exited by itself.
	Run() (status int64, output string, err error)
}

// A Fact is an error that says what breaks a rule.
type Fact string

func (f Fact) Error() string { return string(f) }

// unsure is the exit status by which a command says that it cannot tell.
const unsure = 75

// Judge looks at a, rule by rule, in the order of the members in spec §41: so the command runs
// last. start is nil, or what was seen when the attempt began.
func (r Rules) Judge(a Attempt, start *Snapshot) Report {
	j := &judging{attempt: a, start: start, strict: r.Strict}
	j.exit(r.Exit)
	for _, p := range r.Files {
		j.files("files", p, func(path string) { j.found("files", path, "", j.look(path)) })
	}
	for _, p := range r.Changed {
		j.changed(p)
	}
	for _, t := range r.Contains {
		j.texts("contains", t, contains)
	}
	for _, t := range r.Absent {
		j.texts("absent", t, lacks)
	}
	for _, s := range r.JSON {
		j.files("json", s.Files, func(path string) { j.found("json", path, "", j.conforms(s, path)) })
	}
	if r.Command != nil {
		j.command(r.Command)
	}
	for _, sentence := range r.Prose {
		j.found("prose", "", sentence, errors.New("a person must look"))
	}
	return j.report
}

type judging struct {
	attempt Attempt
	start   *Snapshot
	report  Report
	strict  bool
}

// found adds what err says to the report.
func (j *judging) found(rule, file, want string, err error) {
	j.add(Finding{Rule: rule, File: file, Want: want}, err)
}

func (j *judging) add(f Finding, err error) {
	fact, known := errors.AsType[Fact](err)
	switch {
	case err == nil:
		j.report.Looked++
	case known:
		f.Found = string(fact)
		j.report.Looked++
		j.report.Failed = append(j.report.Failed, f)
	case j.strict:
		f.Found = err.Error()
		j.report.Failed = append(j.report.Failed, f)
	default:
		f.Found = err.Error()
		j.report.Uncertain = append(j.report.Uncertain, f)
	}
}

// exit judges the exit status. Without a rule, 0 is no success, but another status is a failure.
func (j *judging) exit(want []int64) {
	status, known := j.attempt.Exit()
	good := slices.Contains(want, status) || want == nil && status == 0
	switch {
	case want == nil && (!known || good):
	case !known:
		j.found("exit", "", statuses(want), errors.New("the exit status is not known"))
	case good:
		j.report.Looked++
	default:
		j.found("exit", "", statuses(want), Fact(fmt.Sprintf("exit status %d", status)))
	}
}

func statuses(want []int64) string {
	if want == nil {
		return "0"
	}
	words := make([]string, len(want))
	for i, status := range want {
		words[i] = strconv.FormatInt(status, 10)
	}
	return strings.Join(words, ", ")
}

// files calls judge for each file that p names. If p names none, the rule is broken.
func (j *judging) files(rule string, p Pattern, judge func(path string)) {
	paths, err := j.matches(p)
	if err != nil {
		j.found(rule, string(p), "", err)
		return
	}
	for _, path := range paths {
		judge(path)
	}
}

func (j *judging) matches(p Pattern) ([]string, error) {
	paths, err := j.attempt.Matches(p)
	if err == nil && len(paths) == 0 {
		err = Fact("no file matches")
	}
	return paths, err
}

func (j *judging) look(path string) error {
	_, err := j.attempt.Look(path)
	return err
}

// changed judges whether at least one of the files of p has changed. What is no file, or may have
// changed or not, counts only if no other file has.
func (j *judging) changed(p Pattern) {
	if j.start == nil || !slices.Contains(j.start.Patterns, p) {
		j.found("changed", string(p), "", errors.New("it is not known how it was at the start"))
		return
	}
	paths, err := j.matches(p)
	if err != nil {
		j.found("changed", string(p), "", err)
		return
	}

	var worst error
	for _, path := range paths {
		stamp, err := j.attempt.Look(path)
		switch {
		case err != nil:
		case !utf8.ValidString(path): // so it is in no snapshot
			err = errors.New("its name is not UTF-8")
		default:
			err = j.start.changed(path, stamp)
		}
		if err == nil {
			j.report.Looked++
			return
		}
		if _, known := errors.AsType[Fact](err); worst == nil || !known {
			worst = err
		}
	}
	j.found("changed", string(p), "", worst)
}

// texts judges each file of t, and where each regular expression matches, with judge.
func (j *judging) texts(rule string, t Text, judge func(at []int, text string) error) {
	j.files(rule, t.Files, func(path string) {
		text, err := j.attempt.Read(path)
		for _, m := range t.Match {
			at, err := []int(nil), err
			if err == nil {
				at, err = j.attempt.Search(m.expr, text)
			}
			if err == nil {
				err = judge(at, text)
			}
			j.found(rule, path, m.Source, err)
		}
	})
}

func contains(at []int, text string) error {
	switch {
	case at != nil:
		return nil
	case !isText(text):
		return errNotText
	}
	return Fact("nothing matches")
}

func lacks(at []int, text string) error {
	switch {
	case at != nil:
		return Fact(fmt.Sprintf("line %d matches: %s", 1+strings.Count(text[:at[0]], "\n"),
			lineAt(text, at[0])))
	case !isText(text):
		return errNotText
	}
	return nil
}

var errNotText = errors.New("nothing matches, but it is not text: it has a NUL")

// isText reports whether what is in text could be found there. UTF-16 and all binary files have a
// NUL; a byte that is not UTF-8 hides nothing but itself.
func isText(text string) bool { return strings.IndexByte(text, 0) < 0 }

// lineAt returns the line of text with the offset at, shortened and as UTF-8.
func lineAt(text string, at int) string {
	line := text[strings.LastIndexByte(text[:at], '\n')+1:]
	if end := strings.IndexByte(line, '\n'); end >= 0 {
		line = line[:end]
	}
	return strings.ToValidUTF8(Shorten(line), string(utf8.RuneError))
}

// Shorten returns the first 200 bytes of text, and dots if there were more.
func Shorten(text string) string {
	const most = 200
	if len(text) <= most {
		return text
	}
	return text[:most] + "..."
}

func (j *judging) conforms(s Shape, path string) error {
	text, err := j.attempt.Read(path)
	if err != nil {
		return err
	}
	return j.attempt.Conforms(s, text)
}

// command runs the command, which passes with 0, is unsure with 75, and fails otherwise.
func (j *judging) command(argv []string) {
	status, output, err := j.attempt.Run()
	switch {
	case err != nil:
	case status == unsure:
		err = errors.New("it exited 75: it cannot tell")
	case status != 0:
		err = Fact(fmt.Sprintf("it exited %d", status))
	}
	j.add(Finding{Rule: "command", Want: strings.Join(argv, " "), Output: output}, err)
}
