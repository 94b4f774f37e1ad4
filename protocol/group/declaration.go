package group

import (
	"slices"
	"strings"

	"github.com/dpl-project/dpl/protocol/wire"
)

// A Declaration is what a services file says about one service (spec §31): what was asked for in
// its entry, except Order, and nothing of its state.
type Declaration struct {
	ID string
	ServiceSpec
	Heartbeats bool // it promises heartbeats
}

// A ServicesFile is the content of a services file (spec §31.1).
type ServicesFile struct {
	Supervision *Supervision  // the settings of the group; nil: the file says nothing about them
	Services    []Declaration // in the order of the file
}

// DecodeServices returns the content of a services file with that text (spec §31.1). A working
// directory may be relative to that of the file; without one it is ".". Its errors are those of
// wire.DecodeStrict.
func DecodeServices(text string) (ServicesFile, error) {
	return wire.DecodeStrict(text, readServices)
}

func readServices(r *wire.Reader) (f ServicesFile) {
	r.Object(func(name string) {
		switch name {
		case "$schema":
			_ = r.String() // for editors
		case "protocolVersion":
			r.Version()
		case "supervision":
			f.Supervision = readSettings(r)
		case "supervisors":
			r.Object(func(key string) { f.Services = append(f.Services, readDeclaration(r, key)) })
		default:
			r.Unknown(new([]wire.Member), name)
		}
	})

	r.Require("supervisors")
	return f
}

// readSettings reads the settings of a group, and nothing of its state.
func readSettings(r *wire.Reader) *Supervision {
	v := &Supervision{}
	r.Object(func(name string) {
		if !v.readSetting(r, name) {
			r.Unknown(new([]wire.Member), name)
		}
	})
	requireSettings(r)
	return v
}

func readDeclaration(r *wire.Reader, key string) Declaration {
	d := Declaration{ID: key, ServiceSpec: newService(key).ServiceSpec}
	r.CheckID(key)
	r.Object(func(name string) {
		switch name {
		case "supervisorId":
			r.Key(key)
		case "heartbeats":
			d.Heartbeats = r.Bool()
		case "startInfo":
			d.readStartInfo(r)
		default:
			if name == "order" || !d.readSpec(r, name) { // the order of the file counts
				r.Unknown(new([]wire.Member), name)
			}
		}
	})

	r.Require("startInfo")
	if !r.Had("restartable") {
		d.Restartable = true
	}

	return d
}

// readStartInfo reads the member startInfo, which must say how to start the service.
func (d *Declaration) readStartInfo(r *wire.Reader) {
	if d.StartInfo = readStartInfo(r); d.StartInfo == nil {
		r.Refuse("a command is expected")
		return
	}
	if !r.Had("workingDirectory") && d.StartInfo.Group == "" {
		d.StartInfo.Dir = "."
	}
}

// RecordedVariables returns the names of the variables that a service gets from the environment in
// which it is registered, besides those of the locale (spec §11.6). Variables of a login session,
// such as XDG_RUNTIME_DIR, lose their meaning with the session, so they are not among them.
func RecordedVariables() []string {
	return []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ"}
}

// IsLocale reports whether name is that of a variable of the locale, such as LC_TIME.
func IsLocale(name string) bool { return strings.HasPrefix(name, "LC_") }

// within returns the environment of d with the variables of around that it does not set. These come
// first.
func (d *Declaration) within(around []Variable) []Variable {
	own := d.StartInfo.Environment
	if d.StartInfo.Group != "" { // it has no process
		return own
	}
	all := slices.DeleteFunc(slices.Clone(around), func(v Variable) bool {
		return slices.ContainsFunc(own, func(o Variable) bool { return o.Name == v.Name })
	})
	return append(all, own...)
}

// recorded returns what in s may have been recorded as it was registered.
func (s *StartInfo) recorded() Recorded {
	return Recorded{Umask: s.Context.Umask,
		Variables: slices.DeleteFunc(slices.Clone(s.Environment), func(v Variable) bool {
			return !isRecorded(v.Name)
		})}
}
