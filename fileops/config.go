package fileops

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/dpl-project/dpl/protocol/wire"
)

// Config is ledger.json, the settings on which all users of the ledger must agree. It is written
// once, when the ledger is created.
type Config struct {
	ProtocolVersion int      // 1
	Commit          string   // how an edit replaces a file: CommitRename or CommitLink
	Shared          bool     // several users of one group use this ledger
	ResourceRoots   []string // absolute paths below which resources may be deleted, besides the ledger's own tmp/
}

const protocolVersion = 1

// restoreMarker is what to do about a ledger.json that is damaged. It has nothing but settings.
const restoreMarker = "restore it from a backup, or copy that of a new ledger with the same settings"

// The ways in which edits replace a file.
const (
	// CommitRename renames the new file over the old one. It is safe as long as no process loses a
	// lock without noticing.
	CommitRename = "rename"

	// CommitLink gives the new file the name of the next version, which only one edit can do. If
	// several hosts use a file system, a lock is a lease, and a process that is paused for long
	// enough wakes up without it.
	CommitLink = "link"
)

// check returns an error for settings that this program does not support.
func (c Config) check() error {
	switch {
	case c.ProtocolVersion < 1:
		return errors.New("protocolVersion is missing or less than 1: " + restoreMarker)
	case c.ProtocolVersion > protocolVersion:
		return fmt.Errorf("protocolVersion %d: made by a newer dpl: upgrade this one",
			c.ProtocolVersion)
	case c.Commit == "":
		return errors.New("commit is missing: " + restoreMarker)
	case c.Commit != CommitRename && c.Commit != CommitLink:
		return fmt.Errorf("commit %q: made by a newer dpl: upgrade this one", c.Commit)
	}

	for _, root := range c.ResourceRoots {
		if !filepath.IsAbs(root) || filepath.Clean(root) != root || filepath.Dir(root) == root {
			return fmt.Errorf("resourceRoots: %q is not a clean absolute path below the root "+
				"directory", root)
		}
	}

	return nil
}

func (c Config) encode() ([]byte, error) {
	tokens := []jsontext.Token{
		jsontext.BeginObject,
		jsontext.String("$schema"), jsontext.String(wire.Schema("ledger")),
		jsontext.String("protocolVersion"), jsontext.Int(int64(c.ProtocolVersion)),
		jsontext.String("commit"), jsontext.String(c.Commit),
		jsontext.String("shared"), jsontext.Bool(c.Shared),
		jsontext.String("resourceRoots"), jsontext.BeginArray,
	}

	for _, root := range c.ResourceRoots {
		tokens = append(tokens, jsontext.String(root))
	}
	return encode(append(tokens, jsontext.EndArray, jsontext.EndObject))
}

// decodeConfig parses ledger.json. It ignores unknown members.
func decodeConfig(data []byte) (Config, error) {
	var c Config
	err := readObject(data, func(r *wire.Reader, name string) {
		switch name {
		case "protocolVersion":
			c.ProtocolVersion = int(r.Int(0))
		case "commit":
			c.Commit = r.String()
		case "shared":
			c.Shared = r.Bool()
		case "resourceRoots":
			r.Array(func() { c.ResourceRoots = append(c.ResourceRoots, r.String()) })
		default:
			r.Value()
		}
	})

	if err != nil {
		return Config{}, fmt.Errorf("%w: %s", err, restoreMarker)
	}

	return c, c.check()
}
