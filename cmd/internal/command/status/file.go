package status

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
)

// The permissions of a new file, before the umask.
const (
	forOwner fs.FileMode = 0o600 // as the ledger
	forAll   fs.FileMode = 0o644 // for a program that runs as another user
)

// writeFile writes text to file, the value of flag; - is stdout.
func (s *reporter) writeFile(flag, file, text string, mode fs.FileMode) error {
	if file == "-" {
		io.WriteString(s.env.Stdout, text)
		return nil
	}

	err := replace(file, text, mode)
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err // the path would be that of a temporary file
	}
	if err != nil {
		return fmt.Errorf("%s %q: %w", flag, file, err)
	}
	return nil
}

// replace writes text to file completely or not at all, because another program may be reading it.
// A file that is there keeps its permissions: its owner may have let others read it. If file is not
// a regular file, such as /dev/stdout, replace writes to it.
func replace(file, text string, mode fs.FileMode) error {
	before, statErr := os.Stat(file)
	if statErr == nil && !before.Mode().IsRegular() {
		return os.WriteFile(file, []byte(text), 0)
	}

	temp := filepath.Join(filepath.Dir(file),
		"."+filepath.Base(file)+"."+strconv.FormatUint(rand.Uint64(), 36))
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}

	_, err = f.WriteString(text)
	if err == nil && statErr == nil {
		err = f.Chmod(before.Mode().Perm())
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(temp, file)
	}
	if err != nil {
		os.Remove(temp)
	}
	return err
}
