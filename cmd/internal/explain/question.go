package explain

import (
	"fmt"
	"strings"

	"github.com/dpl-project/dpl/protocol/queue"
)

// AskedBy says who asks t: its participant, and the task or operation for which it does.
func AskedBy(t *queue.Task) string {
	asker := t.Ask.Askers[0]
	who := asker.Participant
	switch {
	case asker.Task != "":
		who += ", for task " + asker.Task + " of " + asker.Queue
	case asker.Operation != "":
		who += ", in operation " + asker.Operation
	}
	if asker.User != "" {
		who += ", user " + asker.User
	}
	if n := len(t.Ask.Askers) - 1; n > 0 {
		who += fmt.Sprintf(" and %d more", n)
	}
	return who
}

// DecidedBy says who has decided, and what they said: " by ada: use the test database".
func DecidedBy(d *queue.Decision) string {
	text := Decider(d)
	if d.Answer != "" {
		text += ": " + strings.TrimSpace(d.Answer)
	}
	return text
}

// Decider says who has decided: " by ada".
func Decider(d *queue.Decision) string {
	var text string
	switch {
	case d.By != "" && d.User != "" && d.User != d.By:
		text = fmt.Sprintf(" by %s (user %s)", d.By, d.User)
	case d.By != "":
		text = " by " + d.By
	case d.Rule.Number > 0:
		text = fmt.Sprintf(" by rule %d of %s", d.Rule.Number, d.Rule.File)
	}
	switch {
	case d.Self:
		text += ", who is part of what has asked"
	case d.Unchecked:
		text += ", who may be part of what has asked"
	}
	return text
}
