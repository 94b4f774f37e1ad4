package status

import (
	"slices"

	"github.com/dpl-project/dpl/fileops/notify"
)

// A watcher watches the files of one subject.
type watcher struct {
	*reporter
	subject  subject
	notifier *notify.Notifier
	// the operations, groups and queues that notifier watches
	ops, groups, queues []string
}

// arm returns a channel that receives a value when a file of the subject changes. For a list these
// are the files of the operations, groups and queues that exist now.
func (w *watcher) arm() <-chan struct{} {
	var ops, groups, queues []string
	switch {
	case w.subject.queue != "":
		queues = []string{w.subject.queue}
	case w.subject.group != "":
		groups = []string{w.subject.group}
	case w.subject.op != "":
		ops = []string{w.subject.op}
	default:
		const most = 64 // the kernel limits the number of watches
		ops, _ = w.ledger.IDs()
		groups, _ = w.ledger.Groups()
		queues, _ = w.ledger.QueueIDs()
		ops = ops[:min(len(ops), most)]
		groups = groups[:min(len(groups), most-len(ops))]
		queues = queues[:min(len(queues), most-len(ops)-len(groups))]
	}

	if w.notifier == nil || !slices.Equal(ops, w.ops) || !slices.Equal(groups, w.groups) ||
		!slices.Equal(queues, w.queues) {
		w.unwatch()
		w.notifier = w.ledger.NotifyAll(ops, groups, queues)
		w.ops, w.groups, w.queues = ops, groups, queues
	}

	w.notifier.Arm()
	return w.notifier.C()
}

func (w *watcher) unwatch() {
	if w.notifier != nil {
		w.notifier.Close()
	}
}
