package doctor

import (
	"errors"
	"fmt"
	"strings"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/protocol/wire"
)

// marker reports why commands refuse the ledger, except for causes that other checks report.
func (p *checkup) marker() (found []finding) {
	refused := errors.Is(p.survey.Refusal, fileops.ErrPermission)
	for _, err := range p.survey.Errors {
		if errors.Is(err, fileops.ErrPermission) && p.barred() {
			refused = true
			continue
		}
		found = append(found, problem.about("", "it cannot be read: "+err.Error(),
			"run this as its owner, or repair it"))
	}
	if refused && p.barred() {
		found = append(found, note.about("", "commands refuse it, or a part of it: see permissions", ""))
	}

	for _, root := range p.survey.Ledger.Config().ResourceRoots {
		if err := p.env.CheckRoots(root); errors.Is(err, fileops.ErrRoot) {
			found = append(found, warning.about(layout.Marker, "resourceRoots: "+err.Error(),
				"name directories that contain only what may be deleted"))
		}
	}

	err := p.survey.Refusal
	if err == nil || errors.Is(err, fileops.ErrPermission) || p.survey.Network == sshfs {
		return found
	}

	cause := strings.TrimPrefix(p.plain(err), fileops.ErrConfig.Error()+": ")
	return append(found, problem.about(layout.Marker,
		strings.TrimPrefix(cause, layout.Marker+": "), "no command uses the ledger until then"))
}

// validity reports invalid files, and files with members unknown to this version.
func (p *checkup) validity() []finding {
	found := p.broken
	for _, f := range p.files {
		if names := unknown(f.Content); len(names) > 0 {
			found = append(found, note.about(f.name,
				"members unknown to this version, which keeps them: "+strings.Join(names, " "), ""))
		}
	}

	return found
}

// invalid describes a file that could not be read.
func invalid(name, path string, err error) finding {
	cure := ""
	switch {
	case errors.Is(err, wire.ErrNewerVersion):
		cure = "upgrade this dpl"
	case errors.Is(err, wire.ErrCorrupt):
		cure = "repair it, or move it away"
	}
	return problem.about(name, strings.TrimPrefix(err.Error(), path+": "), cure)
}

// unknown returns the paths of a file's unknown members.
func unknown(c fileops.Content) (names []string) {
	add := func(path string, members []wire.Member) {
		for _, m := range members {
			names = append(names, path+"/"+m.Name)
		}
	}

	if op := c.Operation; op != nil {
		add("", op.Unknown)
		for i, f := range op.Stack {
			add(fmt.Sprintf("/stack/%d", i), f.Unknown)
		}
		for _, s := range op.Supervisors {
			add("/supervisorHeartbeats/"+s.ID, s.Unknown)
		}
	}

	if o := c.Orchestrator; o != nil {
		add("", o.Unknown)
	}

	if r := c.Registry; r != nil {
		add("", r.Unknown)
		for _, s := range r.Services {
			add("/supervisors/"+s.ID, s.Unknown)
		}
	}

	return names
}
