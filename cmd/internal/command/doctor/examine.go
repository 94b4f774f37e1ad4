package doctor

import (
	"errors"
	"io/fs"
	"slices"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/fileops/survey"
	"github.com/dpl-project/dpl/protocol/observe"
)

// A checkup is a ledger and what was found in it.
type checkup struct {
	env    *cli.Env
	survey *survey.Survey
	seen   observe.Observation
	files  []file // files with valid content
	broken []finding
}

// A file is a file of the ledger with its content.
type file struct {
	survey.Found
	fileops.Content
	name string // path within the ledger
}

// A check examines one subject. It reports well if it has examined it and found nothing.
type check struct {
	name string
	well string
	look func() []finding
}

// ofFiles are the checks that need the files of the ledger.
var ofFiles = []string{"files", "clock", "leftovers", "orphans", "numbers", "passes", "services",
	"alerts", "logs", "queues", "audit"}

// newCheckup surveys the ledger and reads its files.
func newCheckup(env *cli.Env) (*checkup, error) {
	survey, err := env.Inspect()
	if err != nil {
		return nil, err
	}
	p := &checkup{env: env, survey: survey}
	p.read()
	p.seen = env.Observer()() // after reading the files, so that no time in them is later
	return p, nil
}

func (p *checkup) dir() string { return p.survey.Ledger.Dir() }

// read reads the files, except those that commands refuse.
func (p *checkup) read() {
	for _, f := range p.survey.Files {
		if f.Distrust != nil {
			continue
		}

		content, err := p.survey.Read(f)
		switch {
		case err == nil:
			p.files = append(p.files, file{f, content, p.survey.Name(f)})
		case !errors.Is(err, fs.ErrNotExist):
			p.broken = append(p.broken, invalid(p.survey.Name(f), f.Path, err))
		}
	}
}

// examine runs all checks.
func (p *checkup) examine() []finding {
	checks := []check{
		{"ledger", "ledger.json is there, and commands use the ledger", p.marker},
		{"permissions", "commands trust who can write to it, and this user can use it", p.permissions},
		{"parents", "no one else can replace its directory", p.parents},
		{"files", "all files are valid", p.validity},
		{"place", "", p.place},
		{"space", "", p.space},
		{"lock", "only one of two processes gets it, and a killed one releases it", p.exclusion},
		{"create", "O_EXCL never replaces a file", p.trial((*survey.Scratch).Exclusive)},
		{"link", "link(2) never replaces a file", p.trial((*survey.Scratch).Link)},
		{"move", "a rename that must not replace a file does not",
			p.trial((*survey.Scratch).Move)},
		{"rename", "a reader sees all of the old file or all of the new one",
			p.trial((*survey.Scratch).Replace)},
		{"fsync", "directories can be synced", p.trial((*survey.Scratch).Sync)},
		{"clock", "no time in the files is in the future", p.clock},
		{"identity", "processes are identified by more than their pid", p.identity},
		{"leftovers", "killed commands have left nothing behind", p.leftovers},
		{"orphans", "no process has outlived its dpl-run and the keeper", p.orphans},
		{"numbers", "thresholds are at least 2.5 times their interval", p.numbers},
		{"passes", "passes run when they are needed", p.passes},
		{"services", "none was given up, and passes know of all ends", p.services},
		{"alerts", "no alert waits for its hook, and none was lost after all tries", p.alerts},
		{"logs", "the logs of services are rotated", p.logs},
		{"queues", "no queue is too large or has lost something", p.queues},
		{"audit", "the records of who changed what are whole", p.audit},
	}

	var findings []finding
	for _, c := range checks {
		found := c.look()
		if len(found) == 0 {
			found = []finding{ok.about("", c.well, "")}
			if len(p.survey.Errors) > 0 && slices.Contains(ofFiles, c.name) {
				found[0] = note.about("",
					"nothing found, but not everything could be checked: see ledger", "")
			}
		}

		for _, f := range found {
			f.check = c.name
			findings = append(findings, f)
		}
	}

	return findings
}
