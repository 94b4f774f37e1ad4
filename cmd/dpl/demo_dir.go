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
