package group

import (
	"slices"

	"github.com/dpl-project/dpl/protocol/wire"
)

// A Declaration is what a services file says about one service (supervision.md §31): what was asked
// for in its entry, except Order, and nothing of its state.
type Declaration struct {
	ID string
	ServiceSpec
	Heartbeats bool // it promises heartbeats
}

// A ServicesFile is the content of a services file (§31.1).
type ServicesFile struct {
	Supervision *Supervision  // the settings of the group; nil: the file says nothing about them
	Services    []Declaration // in the order of the file
}

// A Recorded is what a service gets from the process that registers it, unless it is declared.
type Recorded struct {
	Variables []Variable
	Umask     Number
}

// DecodeServices returns the content of a services file with that text (§31.1). A working
// directory may be relative to that of the file; without one it is ".". Its errors are those of
// wire.DecodeStrict.
func DecodeServices(text string) (ServicesFile, error) {
	return wire.DecodeStrict(text, (*ServicesFile).record)
}

// record reads f.
func (f *ServicesFile) record(c *wire.Codec) {
	var unknown []wire.Member // refused
	c.Record(&unknown, f.members, "supervisors")
}

func (f *ServicesFile) members(c *wire.Codec) {
	schema, version := "", 0
	c.String("$schema", &schema, wire.IfSet) // for editors
	c.Version(&version)
	wire.Pointer(c, "supervision", &f.Supervision, (*Supervision).recordSettings)
	c.Own("supervisors", f.readServices, nil, wire.Always)
}

func (f *ServicesFile) readServices(r *wire.Reader) {
	r.Object(func(key string) {
		d := Declaration{ID: key, ServiceSpec: newService(key).ServiceSpec}
		d.record(r.Codec())
		f.Services = append(f.Services, d)
	})
}

// record reads d, which has an ID.
func (d *Declaration) record(c *wire.Codec) {
	c.Reader().CheckID(d.ID)
	var unknown []wire.Member // refused
	if c.Record(&unknown, d.members, "startInfo") {
		if !c.Had("restartable") {
			d.Restartable = true
		}
	}
}

// members has no order: that of the file counts.
func (d *Declaration) members(c *wire.Codec) {
	c.Key("supervisorId", d.ID)
	c.Bool("heartbeats", &d.Heartbeats, wire.IfSet)
	c.Own("startInfo", d.readStartInfo, nil, wire.Always)
	c.Bool("restartable", &d.Restartable, wire.Always)
	d.startMembers(c)
	d.endMembers(c)
}

// readStartInfo reads the member startInfo, which must say how to start the service.
func (d *Declaration) readStartInfo(r *wire.Reader) {
	if r.Null() {
		r.Refuse("a command is expected")
		return
	}
	d.StartInfo = &StartInfo{}
	d.StartInfo.record(r.Codec())
	if !r.Had("workingDirectory") && d.StartInfo.Group == "" {
		d.StartInfo.Dir = "."
	}
}

// within returns the environment of d with the variables of around that it does not set. These come
// first.
func (d *Declaration) within(around []Variable) []Variable {
	set := d.StartInfo.Environment
	if d.StartInfo.Group != "" { // it has no process
		return set
	}
	all := slices.DeleteFunc(slices.Clone(around), func(v Variable) bool {
		return slices.ContainsFunc(set, func(o Variable) bool { return o.Name == v.Name })
	})
	return append(all, set...)
}

// recorded returns what in s may have been recorded as it was registered.
func (s *StartInfo) recorded() Recorded {
	return Recorded{Umask: s.Context.Umask,
		Variables: slices.DeleteFunc(slices.Clone(s.Environment), func(v Variable) bool {
			return !isRecorded(v.Name)
		})}
}
