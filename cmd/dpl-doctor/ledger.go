package main

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
	for _, err := range p.survey.Errors {
		found = append(found, finding{level: problem, text: "it cannot be read: " + err.Error(),
			cure: "run this as its owner, or repair it"})
	}

	for _, root := range p.survey.Ledger.Config().ResourceRoots {
		if err := p.env.CheckRoots(root); errors.Is(err, fileops.ErrRoot) {
			found = append(found, finding{
				level: warning, object: layout.Marker, text: "resourceRoots: " + err.Error(),
				cure: "name directories that contain only what may be deleted",
			})
		}
	}

	err := p.survey.Refusal
	if err == nil || errors.Is(err, fileops.ErrPermission) || p.survey.Network == sshfs {
		return found
	}

	cause := strings.TrimPrefix(p.plain(err), fileops.ErrConfig.Error()+": ")
	return append(found, finding{level: problem, object: layout.Marker,
		text: strings.TrimPrefix(cause, layout.Marker+": "), cure: "no command uses the " +
			"ledger until then"})
}

// validity reports invalid files, and files with members unknown to this version.
func (p *checkup) validity() []finding {
	found := p.broken
	for _, f := range p.files {
		if names := unknown(f.Content); len(names) > 0 {
			found = append(found, finding{
				level: note, object: f.name,
				text: "members unknown to this version, which keeps them: " +
					strings.Join(names, " "),
			})
		}
	}

	return found
}

// invalid describes a file that could not be read.
func invalid(name, path string, err error) finding {
	f := finding{level: problem, object: name, text: strings.TrimPrefix(err.Error(), path+": ")}
	switch {
	case errors.Is(err, wire.ErrNewerVersion):
		f.cure = "upgrade this dpl"
	case errors.Is(err, wire.ErrCorrupt):
		f.cure = "repair it, or move it away"
	}
	return f
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
