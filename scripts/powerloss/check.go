package powerloss

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// What Check and Next can find.
var (
	ErrTorn  = errors.New("torn")
	ErrLost  = errors.New("lost")
	ErrStuck = errors.New("the next command fails")
)

// An Ack is something that a command has acknowledged when the log of the disk had At entries: a
// revision of an object, and its content if known. If it is not Durable, it may be undone, but must
// not be torn.
type Ack struct {
	At       int64  `json:"at"`
	Object   string `json:"object"`
	Revision int64  `json:"revision"`
	Digest   string `json:"digest,omitempty"`
	Durable  bool   `json:"durable"`
}

// A Recorder notes what commands acknowledge that run one after the other.
type Recorder struct {
	Acks []Ack
	last Survey
}

// Note notes what a command has changed that has just ended in base.
func (r *Recorder) Note(base string, at int64, durable bool) error {
	now, err := Look(base)
	for object, v := range now {
		if before, known := r.last[object]; !known || before != v {
			r.Acks = append(r.Acks, Ack{at, object, v.Revision, v.Digest, durable})
		}
	}
	r.last = now
	return err
}

// Check examines a ledger in base after a power cut, when the log had at entries. It returns
// ErrTorn if a file is invalid or was never written that way, and ErrLost if something acknowledged
// is missing.
func Check(base string, acks []Ack, at int64) error {
	found, err := Look(base)
	if err = errors.Join(err, everyFile(base)); err != nil {
		return fmt.Errorf("%w: %w", ErrTorn, err)
	}
	if data, err := os.ReadFile(filepath.Join(base, keep)); err != nil || string(data) != keep {
		return fmt.Errorf("%w: %s, which nobody may touch: %q, %w", ErrLost, keep, data, err)
	}

	var wrong error
	for _, a := range acks {
		v, known := found[a.Object]
		switch {
		case known && v.Revision == a.Revision && a.Digest != "" && v.Digest != a.Digest:
			wrong = errors.Join(wrong, fmt.Errorf("%w: %s: revision %d has another content than "+
				"when it was made", ErrTorn, a.Object, v.Revision))
		case a.At > at || !a.Durable:
		case !known:
			wrong = errors.Join(wrong, fmt.Errorf("%w: %s: revision %d was acknowledged, but "+
				"there is none", ErrLost, a.Object, a.Revision))
		case v.Revision < a.Revision:
			wrong = errors.Join(wrong, fmt.Errorf("%w: %s: revision %d was acknowledged, but "+
				"there is %d", ErrLost, a.Object, a.Revision, v.Revision))
		}
	}

	return wrong
}
