package main

import (
	"os"
	"path/filepath"
)

// demoLock is the name of a file in the directory of a demo. It is locked as long as anything that
// belongs to the demo runs, which lets the next demo remove what a killed one has left.
const demoLock = "lock"

// demoDir makes a directory for a demo, and locks it.
func demoDir() (dir string, lock *os.File, err error) {
	if dir, err = os.MkdirTemp("", "dpl-demo."); err != nil {
		return "", nil, err
	}

	// Under its final name it has been locked from the beginning.
	path := filepath.Join(dir, demoLock)
	if lock, err = os.Create(path + ".new"); err == nil {
		if err = tryLock(lock); err == nil {
			err = os.Rename(lock.Name(), path)
		}
	}
	if err != nil {
		os.RemoveAll(dir)
	}

	return dir, lock, err
}

// commandsFor returns the directory of the commands. If there are no links to dpl yet, as after go
// install, it makes them below dir, as far as there are programs for them beside dpl.
func commandsFor(dir string) (bin string, err error) {
	if push, err := find(program("push")); err == nil {
		return filepath.Dir(push), nil
	}

	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err == nil {
		bin = filepath.Join(dir, "bin")
		err = os.Mkdir(bin, 0o700)
	}
	if err != nil {
		return "", err
	}

	for _, l := range linksIn(self) {
		makeLink(l.program, filepath.Join(bin, l.name)) // the script looks for what it needs
	}
	return bin, nil
}

// removeOldDemos removes what demos of this user have left that were killed with SIGKILL.
func removeOldDemos() {
	dirs, err := filepath.Glob(filepath.Join(os.TempDir(), "dpl-demo.*"))
	if err != nil {
		return
	}

	for _, dir := range dirs {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || !isMine(info) {
			continue
		}

		lock, err := os.Open(filepath.Join(dir, demoLock))
		if err != nil {
			continue
		}
		if tryLock(lock) == nil {
			os.RemoveAll(dir)
		}
		lock.Close()
	}
}
