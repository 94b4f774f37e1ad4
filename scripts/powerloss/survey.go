package powerloss

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/queue"
)

// A Version is one state of an object of a ledger: an operation, an archived copy, a file of a
// group, its alerts, a queue, or a report.
type Version struct {
	Revision int64
	Digest   string // of its content; "": not known
}

// A Survey is the objects of a ledger as a reader sees them, by a name such as "operation o".
type Survey map[string]Version

// Look surveys the ledger in base, all of whose files must be readable. Without a ledger it finds
// nothing.
func Look(base string) (Survey, error) {
	found := Survey{}
	l, err := fileops.Open(LedgerOf(base), fileops.Options{})
	if errors.Is(err, fileops.ErrNoLedger) {
		return found, nil
	}
	if err == nil {
		err = errors.Join(found.operations(l, base), found.archive(l, base), found.groups(l, base),
			found.queues(l, base))
	}
	return found, err
}

func (s Survey) set(base, kind, name string, revision int64, content []byte) {
	sum := sha256.Sum256(bytes.ReplaceAll(content, []byte(base), []byte("BASE")))
	s[kind+" "+name] = Version{revision, hex.EncodeToString(sum[:])}
}

func (s Survey) operations(l *fileops.Ledger, base string) error {
	entries, err := l.List()
	for _, e := range entries {
		err = errors.Join(err, s.operation(l, base, e.ID))
	}
	return err
}

func (s Survey) operation(l *fileops.Ledger, base, id string) error {
	data, _, err := l.Read(id)
	if err != nil {
		return fmt.Errorf("operation %s: %w", id, err)
	}

	op, err := protocol.Decode(string(data))
	if err != nil {
		return fmt.Errorf("operation %s: %w", id, err)
	}

	s.set(base, "operation", id, op.Revision, data)
	return nil
}

// archive records each copy, every one as an object of its own, and the operations of which there
// is only a copy.
func (s Survey) archive(l *fileops.Ledger, base string) error {
	names, err := filepath.Glob(filepath.Join(l.Dir(), "archive", "*.json"))
	for _, path := range names {
		name := filepath.Base(path)
		id, _, isCopy := strings.Cut(strings.TrimSuffix(name, ".json"), "~")
		data, readErr := os.ReadFile(path)
		revision := int64(0)
		if readErr == nil {
			revision, readErr = decode(path, string(data))
		}
		if err = errors.Join(err, readErr); readErr != nil {
			continue
		}

		s.set(base, "copy", fmt.Sprintf("%s of revision %d", name, revision), revision, data)
		if _, known := s["operation "+id]; !known &&
			!(isCopy && strings.Contains(name, "~supervisors~")) {
			err = errors.Join(err, s.operation(l, base, id))
		}
	}

	return err
}

func (s Survey) groups(l *fileops.Ledger, base string) error {
	ids, err := l.Groups()
	for _, id := range ids {
		g, readErr := l.ReadGroup(id)
		if readErr != nil {
			err = errors.Join(err, readErr)
			continue
		}

		s.set(base, "registry", id, g.Registry.Revision, []byte(g.Registry.Encode()))
		s.set(base, "orchestrator", id, g.Orchestrator.Revision, []byte(g.Orchestrator.Encode()))
		seq, readErr := l.LastAlert(id)
		if seq > g.Registry.AlertSeq {
			readErr = errors.Join(readErr, fmt.Errorf("group %s: there is alert %d, but the "+
				"registry knows of %d", id, seq, g.Registry.AlertSeq))
		}

		err = errors.Join(err, readErr)
		s["alerts "+id] = Version{Revision: seq}
	}

	return err
}

// everyFile decodes each file with content of the ledger in base, including those that no reader
// would use now. Logs and restart files may be torn: a power cut also ends whoever they are for.
func everyFile(base string) error {
	var wrong error
	ledger := LedgerOf(base)
	err := filepath.WalkDir(ledger, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && errors.Is(err, fs.ErrNotExist) && path == ledger:
			return fs.SkipAll
		case err != nil:
			return err
		case d.IsDir() && filepath.Dir(path) == ledger &&
			slices.Contains([]string{"tmp", "logs", "restarts"}, d.Name()),
			d.IsDir() && path == filepath.Join(ledger, "queues", "tasks"): // queues finds what counts there
			return fs.SkipDir
		case d.IsDir() || !counts(d.Name()):
			return nil
		}

		data, err := os.ReadFile(path)
		if err == nil {
			_, err = decode(path, string(data))
		}

		wrong = errors.Join(wrong, err)
		return nil
	})

	return errors.Join(wrong, err)
}

// counts reports whether a file of that name is no temporary file, lock file, or list of alerts.
func counts(name string) bool {
	return !strings.Contains(name, ".tmp~") && strings.HasSuffix(unnumbered(name), ".json")
}

// unnumbered returns name without the number at the end of a version committed by link.
func unnumbered(name string) string {
	if i := strings.LastIndexByte(name, '.'); i >= 0 &&
		strings.Trim(name[i+1:], "0123456789") == "" {
		return name[:i]
	}
	return name
}

// decode returns the revision in the file at path.
func decode(path, text string) (revision int64, err error) {
	switch name := unnumbered(filepath.Base(path)); {
	case name == "ledger.json":
		return 0, nil // Look has opened the ledger
	case filepath.Base(filepath.Dir(path)) == "queues":
		var q queue.Queue
		q, err = queue.Decode(text)
		revision = q.Revision
	case filepath.Base(filepath.Dir(filepath.Dir(path))) == "exits":
		_, err = group.DecodeExitRecord(text)
	case strings.HasSuffix(name, ".orchestrator.json"):
		var o group.Orchestrator
		o, err = group.DecodeOrchestrator(text)
		revision = o.Revision
	case strings.HasSuffix(name, ".supervisors.json") || strings.Contains(name, "~supervisors~"):
		var r group.Registry
		r, err = group.DecodeRegistry(text)
		revision = r.Revision
	default:
		var op protocol.Operation
		op, err = protocol.Decode(text)
		revision = op.Revision
	}

	if err != nil {
		err = fmt.Errorf("%s: %w", filepath.Base(path), err)
	}

	return revision, err
}
