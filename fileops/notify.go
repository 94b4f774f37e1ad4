package fileops

import (
	"slices"
	"sync"
	"time"

	"github.com/dpl-project/dpl/fileops/disk"
)

const (
	// pollEvery is how often files are looked at where the operating system does not tell of changes.
	pollEvery = 100 * time.Millisecond

	// settled is how many looks after a change the next one counts as a change, too: until the clock of a file system has
	// ticked, which may take it 2 s, another file can have the inode, size and time of the one that it replaces.
	settled = 20
)

// A Notifier tells when files of a ledger may have changed: an edit, archiving, a hand at work. It takes no processor time
// while they do not, whatever happens to other files of the ledger, except where they have to be polled.
//
// It misses nothing in the loop
//
//	for n.Arm(); !done(read()); n.Arm() {
//		<-n.C()
//	}
//
// because a watch is on the file that the path named at some moment during Arm. A change before that moment is seen by the
// read, which comes later; from then on, taking the name from the file, writing to it and moving a directory on the way to
// it are told, by the kernel and before the system call returns that does it. The way is watched from the root down, and
// the absence of a file is looked at again once its directory is watched, so that no change fits in between. Where files
// are polled, a look during Arm takes the place of the watch. Only a mount that hides the ledger may go unnoticed.
type Notifier struct {
	ledger *Ledger
	files  []string
	c      chan struct{}

	mu      sync.Mutex
	watcher *watcher
	closed  bool
	seen    []disk.Info   // by the last poll that Arm made
	quiet   int           // looks since seen changed
	stop    chan struct{} // of the goroutine that polls, nil if there has been none
}

// Notify returns a Notifier of operations, as long as they are not archived, and of the registries of groups. They need
// not exist. It never fails: what cannot be watched is polled, ten times a second. The caller closes it.
func (l *Ledger) Notify(operations, groups []string) *Notifier {
	n := &Notifier{ledger: l, c: make(chan struct{}, 1)}
	for _, id := range operations {
		n.files = append(n.files, l.operation(id))
	}
	for _, id := range groups {
		n.files = append(n.files, l.supervisors(id))
	}
	n.watcher = newWatcher(l, n.tell)
	return n
}

// Arm asks to be told of the next change of any of the files, relative to what a read sees that begins after Arm returns.
// It takes back what C has not delivered yet. After a value from C there need not be another before the next Arm. After
// Close it does nothing.
func (n *Notifier) Arm() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return
	}
	select {
	case <-n.c:
	default:
	}
	n.stopPolling()
	if !n.watcher.arm(n.files) {
		n.startPolling()
	}
}

// C returns the channel that gets one value after one or many changes. Rarely it gets one after none.
func (n *Notifier) C() <-chan struct{} { return n.c }

// Close releases what the Notifier holds, once and for all. It does not close C.
func (n *Notifier) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return nil
	}
	n.closed = true
	n.stopPolling()
	return n.watcher.close()
}

func (n *Notifier) tell() {
	select {
	case n.c <- struct{}{}:
	default:
	}
}

func (n *Notifier) startPolling() {
	if now := n.look(); !slices.Equal(now, n.seen) {
		n.seen, n.quiet = now, 0
	}
	n.stop = make(chan struct{})
	go n.poll(n.stop)
}

func (n *Notifier) stopPolling() {
	if n.stop != nil {
		close(n.stop)
		n.stop = nil
	}
}

// poll tells of the first change and returns, or returns when stop is closed.
func (n *Notifier) poll(stop chan struct{}) {
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for {
		select {
		case <-stop:
			return
		case <-ticker.C:
		}
		if n.compare(n.look(), stop) {
			return
		}
	}
}

// compare reports whether the goroutine that stop is for has nothing left to do.
func (n *Notifier) compare(now []disk.Info, stop chan struct{}) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.stop != stop {
		return true
	}
	n.quiet++
	if n.quiet != settled && slices.Equal(now, n.seen) {
		return false
	}
	n.tell()
	return true
}

// look describes the files. One that is missing, or cannot be looked at, is the zero Info.
func (n *Notifier) look() []disk.Info {
	defer n.ledger.fs.Refresh()
	infos := make([]disk.Info, len(n.files))
	for i, file := range n.files {
		if info, err := n.ledger.fs.Lstat(file); err == nil {
			infos[i] = info
		}
	}
	return infos
}
