// Package notify reports when files may have changed, by inotify where that is possible, and
// otherwise by looking at them ten times a second.
package notify

import (
	"slices"
	"sync"
	"time"

	"github.com/dpl-project/dpl/fileops/disk"
)

const (
	// pollEvery is the interval for polling files if the operating system does not report changes.
	pollEvery = 100 * time.Millisecond

	// settled is the number of looks after a change during which the next look also counts as a
	// change. Until the clock of a file system has ticked, which may take 2 s, another file can
	// have the inode, size and time of the file that it replaces.
	settled = 20
)

// A Notifier reports when files may have changed, in place, by a rename, or by removal. While they
// do not change it takes no processor time, whatever happens to other files in their directories,
// unless it must poll.
//
// It misses nothing in the loop
//
//	for n.Arm(); !done(read()); n.Arm() {
//		<-n.C()
//	}
//
// because each watch is on the file that the path named at some moment during Arm. The read, which
// comes later, sees changes before that moment. After it, the kernel reports removing the name,
// writing to the file, and moving a directory on the way to it, before the system call that does so
// returns. The way is watched from the root down, and the absence of a file is checked again once
// its directory is watched, so no change falls in between. If files are polled, a look during Arm
// takes the place of the watch. Only a mount that hides the files may go unnoticed.
type Notifier struct {
	fs    disk.FS
	files []string
	c     chan struct{}

	mu      sync.Mutex
	watcher *watcher
	closed  bool
	seen    []disk.Info   // at the last poll by Arm
	quiet   int           // the number of looks since seen changed
	stop    chan struct{} // stops the goroutine that polls; nil if there is none
}

// New returns a Notifier for files, which need not exist, nor the directories they are in. It never
// fails: files that cannot be watched are polled. The caller must close it.
func New(fs disk.FS, files []string) *Notifier {
	n := &Notifier{fs: fs, files: files, c: make(chan struct{}, 1)}
	n.watcher = newWatcher(fs, n.notify)
	return n
}

// Arm asks for a report of the next change of any of the files, relative to a read that begins
// after Arm returns. It drops a report that C has not delivered yet. After a value from C there may
// be no other until the next Arm. After Close it does nothing.
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

// C returns the channel that receives one value after one or more changes. Rarely it receives a
// value without a change.
func (n *Notifier) C() <-chan struct{} { return n.c }

// Close releases the resources of the Notifier. It does not close C.
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

func (n *Notifier) notify() {
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

// poll reports the first change and returns. It also returns when stop is closed.
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

// compare reports whether the goroutine of stop has nothing left to do.
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

	n.notify()
	return true
}

// look describes the files. A file that is missing or cannot be examined gives the zero Info.
func (n *Notifier) look() []disk.Info {
	defer n.fs.Refresh()
	infos := make([]disk.Info, len(n.files))
	for i, file := range n.files {
		if info, err := n.fs.Lstat(file); err == nil {
			infos[i] = info
		}
	}
	return infos
}
