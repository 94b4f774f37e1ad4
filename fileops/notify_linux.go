package fileops

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

// What is watched for. IN_ONESHOT is no help: the kernel takes such a watch away only after it has queued the event, and
// then also takes one that was renewed in between.
const (
	// Of a file: to lose a name changes the number of its links, which IN_ATTRIB tells at once; IN_DELETE_SELF would come
	// only when nobody has it open any more. IN_CLOSE_WRITE is for those who write through a mapping.
	fileEvents = unix.IN_ATTRIB | unix.IN_MOVE_SELF | unix.IN_MODIFY | unix.IN_CLOSE_WRITE

	// Of a directory on the way to a file, which cannot be removed before the file is. Unlike IN_ATTRIB, this says nothing
	// of what is in the directory.
	wayEvents = unix.IN_ONLYDIR | unix.IN_MOVE_SELF

	// Of the directory where something is missing, and of the one above it.
	nameEvents = wayEvents | unix.IN_CREATE | unix.IN_MOVED_TO | unix.IN_DELETE
)

// maxLinks is how many symbolic links Linux follows on the way to a file.
const maxLinks = 40

// watcher is an inotify instance. Its watches are those of the last arm.
type watcher struct {
	fd      int
	inotify *os.File // of fd, in the runtime's poller, so that reading takes no thread and closing ends it
	tell    func()

	mu      sync.Mutex
	watches map[int]names // by watch descriptor; the kernel does not use one again
	deaf    bool          // nobody reads the events
}

// names are those that matter in a watched directory.
type names map[string]bool

// newWatcher returns nil if there is nothing to watch with. tell is called once or more after a change.
func newWatcher(l *Ledger, tell func()) *watcher {
	if _, ok := l.fs.(disk.OS); !ok {
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

// leaveToKernel has fd closed by the kernel, when it comes to that. Whoever closes an inotify instance, or ends while it has one,
// waits for all readers of the kernel's lists of watches (SRCU), which takes some 10 ms. So fd is sent through a pair of sockets
// whose receiving end goes with it: nobody can receive them any more, which the kernel notices, since Linux 6.10 in a thread of
// its own. If that is not possible, closing takes its time.
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

// concerned reports whether one of the events is about a file. What comes from a watch that the last arm took away, that
// arm made known.
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

// arm reports whether the next change of any of the files will be told.
func (w *watcher) arm(files []string) bool {
	if w == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.watches
	w.watches = make(map[int]names, len(before))
	for wd, of := range before {
		if of != nil { // it may have to become a watch for less
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

// watchAll goes the way to each directory once.
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

// reach watches the way to the directory dir, symbolic links included, from the root down. It returns the path without
// them, or "" if there is no such directory, and then watches for it.
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
		if errors.Is(err, unix.EINVAL) { // a file: it has to go before there can be a directory
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
var networkOf = disk.OS{}.Network

// local returns an error if others can change what is in dir without this kernel's knowing.
func local(dir string) error {
	name, err := networkOf(dir)
	if err == nil && name != "" {
		err = unix.EREMOTE
	}
	return err
}

// watchFile watches file or, if there is none, for it to come to be.
func (w *watcher) watchFile(file string) error {
	err := w.add(file, fileEvents, "")
	if err == unix.ENOENT {
		err = w.await(file, fileEvents)
	}
	return err
}

// await watches for path to come to be, also in a directory that takes the place of the one it is missing in.
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
	case err == nil && events == wayEvents: // it has come meanwhile, and what is in it is not watched
		return unix.EAGAIN
	default:
		return err
	}
}

// add asks for events of path, and for those that concern name in it unless that is empty. It returns an errno.
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
