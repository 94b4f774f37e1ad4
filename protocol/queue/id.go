package queue

import (
	"fmt"
	"strings"

	"github.com/dpl-project/dpl/protocol/wire"
)

const (
	maxQueueID   = 48 // so that the operation of an attempt has an id that fits (spec §32.1)
	maxMailboxID = 64
	maxTaskID    = 64
)

// CheckID returns nil if id can name a queue, and an error that wraps ErrBadQueueID otherwise.
func CheckID(id string) error {
	if err := wire.CheckID(id); err != nil {
		return fmt.Errorf("%w: %w", ErrBadQueueID, err)
	}

	most := maxQueueID
	if strings.HasPrefix(id, "mail.") || strings.HasPrefix(id, "ask.") {
		most = maxMailboxID
	}

	switch {
	case len(id) > most:
		return fmt.Errorf("%w %.20q...: longer than %d characters", ErrBadQueueID, id, most)
	case strings.HasSuffix(id, "."):
		return fmt.Errorf("%w %q: it may not end in a dot", ErrBadQueueID, id)
	}
	return nil
}

// CheckTaskID returns nil if id can name a task, and an error that wraps ErrBadTaskID otherwise. A
// task id has no dot, so that the id of an attempt's operation can be taken apart.
func CheckTaskID(id string) error {
	if err := wire.CheckID(id); err != nil {
		return fmt.Errorf("%w: %w", ErrBadTaskID, err)
	}

	switch {
	case len(id) > maxTaskID:
		return fmt.Errorf("%w %.20q...: longer than %d characters", ErrBadTaskID, id, maxTaskID)
	case strings.Contains(id, "."):
		return fmt.Errorf("%w %q: it may not contain a dot", ErrBadTaskID, id)
	}
	return nil
}

// IsMailbox reports whether id is the queue of somebody's messages (spec §38).
func IsMailbox(id string) bool { return strings.HasPrefix(id, "mail.") }

func readQueueID(r *wire.Reader) string {
	id := r.String()
	if err := CheckID(id); err != nil {
		r.Refuse("%v", err)
	}
	return id
}

func readTaskID(r *wire.Reader) string {
	id := r.String()
	if err := CheckTaskID(id); err != nil {
		r.Refuse("%v", err)
	}
	return id
}
