package notify

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dpl-project/dpl/fileops/disk"
)

// The events to watch for. IN_ONESHOT is no help: the kernel removes such a watch only after it has
// queued the event, and would also remove one renewed in between.
const (
	// Of a file. Losing a name changes the number of its links, which IN_ATTRIB reports at once;
	// IN_DELETE_SELF would come only when no one has the file open. IN_CLOSE_WRITE is for writes
	// through a mapping.
	fileEvents = unix.IN_ATTRIB | unix.IN_MOVE_SELF | unix.IN_MODIFY | unix.IN_CLOSE_WRITE

	// Of a directory on the way to a file. It cannot be removed before the file. Unlike IN_ATTRIB,
	// this ignores changes of its entries.
	wayEvents = unix.IN_ONLYDIR | unix.IN_MOVE_SELF

	// Of the directory in which something is missing, and of the one above it.
	nameEvents = wayEvents | unix.IN_CREATE | unix.IN_MOVED_TO | unix.IN_DELETE
)

// maxLinks is the number of symbolic links that Linux follows on the way to a file.
const maxLinks = 40

// watcher is an inotify instance, with the watches of the last arm.
type watcher struct {
	fd      int
	inotify *os.File // fd in the runtime's poller: reading takes no thread, and closing ends it
	tell    func()

	mu      sync.Mutex
	watches map[int]names // by watch descriptor; the kernel does not reuse one
	deaf    bool          // no one reads the events
}

// names are the names that matter in a watched directory.
type names map[string]bool

// newWatcher returns nil if it cannot watch. tell is called once or more after a change.
func newWatcher(fs disk.FS, tell func()) *watcher {
	if _, ok := fs.(disk.OS); !ok {
		return nil
	}

	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil
	}

	inotify := os.NewFile(uintptr(fd), "inotify")
	if err := inotify.SetReadDeadline(time.Time{}); err != nil { // the poller did not take it
		inotify.Close()
		return nil
	}

	w := &watcher{fd: fd, inotify: inotify, tell: tell}
	go w.read()

	return w
}

func (w *watcher) close() error {
	if w == nil {
		return nil
	}
	leaveToKernel(w.fd)
	return w.inotify.Close()
}

// leaveToKernel makes the kernel close fd later. Closing an inotify instance, or exiting with one
// open, waits for all readers of the kernel's lists of watches (SRCU), which takes some 10 ms. So
// fd is sent through a socket pair whose receiving end is sent as well. Then no one can receive
// them, which the kernel notices, since Linux 6.10 in a thread of its own. If that is not possible,
// closing takes its time.
func leaveToKernel(fd int) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return
	}
	unix.Sendmsg(pair[0], []byte{0}, unix.UnixRights(pair[1], fd), nil, 0)
	unix.Close(pair[0])
	unix.Close(pair[1])
}

func (w *watcher) read() {
	buffer := make([]byte, 4096)
	for {
		n, err := w.inotify.Read(buffer)
		if errors.Is(err, os.ErrClosed) {
			return
		}

		w.mu.Lock()
		w.deaf = err != nil
		if w.deaf || w.concerned(buffer[:n]) {
			w.tell()
		}

		w.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// concerned reports whether one of the events is about a file. The last arm has already covered
// events of watches that it removed.
func (w *watcher) concerned(events []byte) bool {
	for len(events) >= unix.SizeofInotifyEvent {
		wd := int(int32(binary.NativeEndian.Uint32(events)))
		mask := binary.NativeEndian.Uint32(events[4:])
		end := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(events[12:]))
		name := strings.TrimRight(string(events[unix.SizeofInotifyEvent:end]), "\x00")
		events = events[end:]
		of, watched := w.watches[wd]
		if mask&unix.IN_Q_OVERFLOW != 0 || watched && (name == "" || of[name]) {
			return true
		}
	}

	return false
}

// arm reports whether the next change of any of the files will be reported.
func (w *watcher) arm(files []string) bool {
	if w == nil {
		return false
	}

	w.mu.Lock()
	defer w.mu.Unlock()

	before := w.watches
	w.watches = make(map[int]names, len(before))

	for wd, of := range before {
		if of != nil { // it may have to become a watch for fewer events
			unix.InotifyRmWatch(w.fd, uint32(wd))
		}
	}

	err := w.watchAll(files)
	for wd, of := range before {
		if _, still := w.watches[wd]; !still && of == nil {
			unix.InotifyRmWatch(w.fd, uint32(wd))
		}
	}

	return err == nil && !w.deaf
}

// watchAll watches the way to each directory once.
func (w *watcher) watchAll(files []string) error {
	inDir := make(map[string][]string)
	for _, file := range files {
		dir := filepath.Dir(file)
		inDir[dir] = append(inDir[dir], filepath.Base(file))
	}

	for dir, files := range inDir {
		reached, err := w.reach(dir)
		if err != nil {
			return err
		}
		if reached == "" {
			continue
		}

		for _, file := range files {
			if err := w.watchFile(filepath.Join(reached, file)); err != nil {
				return err
			}
		}
	}

	return nil
}

// reach watches the way to the directory dir, including symbolic links, from the root down. It
// returns the path without them. If there is no such directory, it returns "" and watches for it to
// appear.
func (w *watcher) reach(dir string) (string, error) {
	at, rest := "/", dir
	for links := 0; rest != ""; {
		name, after, _ := strings.Cut(rest, "/")
		next := filepath.Join(at, name)
		switch err := w.add(next, wayEvents, ""); err {
		case nil:
			at, rest = next, after
			continue
		case unix.ENOTDIR:
		case unix.ENOENT:
			return "", errors.Join(local(at), w.await(next, wayEvents))
		default:
			return "", err
		}

		if err := w.add(next, fileEvents, ""); err != nil {
			return "", err
		}

		target, err := os.Readlink(next)
		if errors.Is(err, unix.EINVAL) { // a file: it must be removed before there can be a directory
			return "", local(at)
		}
		if links++; err != nil || links > maxLinks {
			return "", unix.ELOOP
		}
		if filepath.IsAbs(target) {
			at = "/"
		}

		rest = target + "/" + after
	}

	return at, local(at)
}

// networkOf is a variable for tests.
var networkOf = func(dir string) (string, error) { return disk.OS{}.Network(dir) }

// local returns an error if dir can be changed without this kernel noticing.
func local(dir string) error {
	name, err := networkOf(dir)
	if err == nil && name != "" {
		err = unix.EREMOTE
	}
	return err
}

// watchFile watches file or, if there is none, waits for it to appear.
func (w *watcher) watchFile(file string) error {
	err := w.add(file, fileEvents, "")
	if err == unix.ENOENT {
		err = w.await(file, fileEvents)
	}
	return err
}

// await watches for path to appear, even in a directory that replaces the one in which it is
// missing.
func (w *watcher) await(path string, events uint32) error {
	dir := filepath.Dir(path)
	if err := w.add(filepath.Dir(dir), nameEvents, filepath.Base(dir)); err != nil {
		return err
	}
	if err := w.add(dir, nameEvents, filepath.Base(path)); err != nil {
		return err
	}

	switch err := w.add(path, events, ""); {
	case err == unix.ENOENT:
		return nil
	case err == nil && events == wayEvents: // it has appeared since, and its entries are not watched
		return unix.EAGAIN
	default:
		return err
	}
}

// add watches path for events, and for those about name in it, unless name is empty. It returns an
// errno.
func (w *watcher) add(path string, events uint32, name string) error {
	wd, err := unix.InotifyAddWatch(w.fd, path, events|unix.IN_DONT_FOLLOW|unix.IN_MASK_ADD)
	if err != nil {
		return err
	}

	of := w.watches[wd]
	if name != "" {
		if of == nil {
			of = make(names)
		}
		of[name] = true
	}

	w.watches[wd] = of
	return nil
}
