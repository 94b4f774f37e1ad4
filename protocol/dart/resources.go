package dart

import (
	"fmt"
	"strings"

	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// resource is a temporary resource in the Dart ledger. It belongs to a process, not to a call.
type resource struct {
	path  string
	owner int
}

// keepTemps reads the temporary resources, and keeps them as they are, with offsets added to times.
func (p *reader) keepTemps() {
	var all []string
	p.Array(func() {
		var r resource
		var kept members
		hasOwner := false
		p.Object(func(name string) {
			switch name {
			case "path":
				r.path = p.String()
				kept.keep(name, quote(r.path))
			case "owner":
				r.owner, hasOwner = int(p.Int(0)), true
				kept.keep(name, fmt.Sprint(r.owner))
			case "registeredAt":
				p.keepTime(&kept, name)
			default:
				p.Unknown((*[]wire.Member)(&kept), name)
			}
		})

		p.require("path", r.path != "")
		p.require("owner", hasOwner)
		p.temps, all = append(p.temps, r), append(all, kept.text())
	})

	if len(all) > 0 {
		p.kept.keep("tempResources", "["+strings.Join(all, ",")+"]")
	}
}

// takeResources leaves f the resources that the ledger may delete, and keeps the others.
func (p *reader) takeResources(f *protocol.Frame, kept *members) {
	var taken, others []string
	for _, path := range f.Resources {
		if err := p.refused(f, path); err != nil {
			p.left = append(p.left, observe.LeftResource{Path: path, Error: err.Error()})
			others = append(others, quote(path))
		} else {
			taken = append(taken, path)
		}
	}

	if f.Resources = taken; len(others) > 0 {
		kept.keep("resources", "["+strings.Join(others, ",")+"]")
	}
}

// takeTemps gives the temporary resources of each process to the first of its calls, which is
// usually the last one to end.
func (p *reader) takeTemps() {
	owned := make(map[*protocol.Frame]map[string]bool)
	for _, r := range p.temps {
		f := p.firstOf[r.owner]
		err := fmt.Errorf("%q: no call is of its owner, process %d", r.path, r.owner)
		if f != nil {
			err = p.refused(f, r.path)
		}

		if err != nil {
			p.left = append(p.left, observe.LeftResource{Path: r.path, Error: err.Error()})
			continue
		}
		if owned[f] == nil {
			owned[f] = make(map[string]bool)
			for _, path := range f.Resources {
				owned[f][path] = true
			}
		}
		if !owned[f][r.path] {
			owned[f][r.path] = true
			f.Resources = append(f.Resources, r.path)
		}
	}
}

// refused returns why f does not get the resource path, or nil.
func (p *reader) refused(f *protocol.Frame, path string) error {
	if f.State == protocol.FrameCleanedUp {
		return fmt.Errorf("%q: call %q is cleaned up already", path, f.CallID)
	}
	return p.how.Refuse(p.op.ID, path)
}
