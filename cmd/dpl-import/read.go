package importer

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/dart"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// found is the operation in a file of the Dart ledger.
type found struct {
	file string
	op   protocol.Operation
	left []observe.LeftResource
}

// reading returns how to read the files, according to the flags.
func (c *importer) reading() (r dart.Reading, err error) {
	switch {
	case len(c.Files) == 0:
		return r, cli.Usagef("no FILE: name a file of the Dart ledger, like " +
			"ledger/ID.operation.json")
	case c.Op != "" && len(c.Files) > 1:
		return r, cli.Usagef("--op goes with one FILE: use --rename")
	}

	r.ID = string(c.Op)
	r.Rename = make(map[string]string)
	for _, rename := range c.Rename {
		rename := string(rename)
		cut := strings.LastIndexByte(rename, '=') // '=' is in none of our ids
		if cut < 0 {
			return r, cli.Usagef("--rename: want OLD=NEW, not %q", rename)
		}
		if err := wire.CheckID(rename[cut+1:]); err != nil {
			return r, cli.Usagef("--rename %q: %v", rename, err)
		}

		r.Rename[rename[:cut]] = rename[cut+1:]
	}

	r.Zone, err = cli.Zone("--time-zone", string(c.TimeZone))
	return r, err
}

// read returns the contents of the files.
func (c *importer) read(env *cli.Env) (texts []string, err error) {
	for _, file := range c.Files {
		text, fileErr := readFile(env, string(file))
		texts, err = append(texts, text), errors.Join(err, fileErr)
	}
	return texts, err
}

// decode returns the operations in the files, or the errors of all of them. l, which may be nil,
// decides which resources may be deleted.
func (c *importer) decode(texts []string, r dart.Reading,
	l *fileops.Ledger) (all []found, err error) {
	r.Refuse = func(op, path string) error {
		if l == nil || l.Absent() {
			return fmt.Errorf("%q: no ledger exists yet that says what may be deleted", path)
		}
		return l.CheckResource(op, path)
	}

	for i, path := range c.Files {
		file := string(path)
		f := found{file: file}
		var fileErr error
		f.op, f.left, fileErr = dart.Read(texts[i], r)
		f.op.Schema = wire.Schema("operation")
		all, err = append(all, f), errors.Join(err, refused(file, fileErr))
	}

	return all, err
}

// readFile returns the contents of file, and warns if it is locked: the Dart ledger writes in
// place, so the file may be half written.
func readFile(env *cli.Env, file string) (string, error) {
	if file == "-" {
		return readAll(os.Stdin)
	}
	if _, err := os.Lstat(file + ".lock"); err == nil {
		env.Warnf("%s.lock exists: a Dart process is editing the file, or was killed: import it "+
			"when none is left", file)
	}

	if info, err := os.Lstat(file); err == nil && info.Mode()&fs.ModeNamedPipe != 0 {
		return "", cli.WithStatus(cli.StatusCorrupt, fmt.Errorf("%s: it is a FIFO, which may never have "+
			"a writer: redirect it, and give -", file))
	}
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		err = cli.WithStatus(cli.StatusNotFound, err)
	}
	if err != nil {
		return "", err
	}
	defer f.Close()

	return readAll(f)
}

// maxFile is larger than any file of the Dart ledger.
const maxFile = 64 << 20

func readAll(f *os.File) (string, error) {
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("%s: %w: it has more than %d MiB", f.Name(), wire.ErrCorrupt,
			maxFile>>20)
	}
	return string(text), err
}

// refused returns err with the name of file and a way to fix it. The ways differ from those for a
// file of this ledger.
func refused(file string, err error) error {
	cure := "import a mended copy, or the newest of its trail"
	switch {
	case err == nil:
		return nil
	case errors.Is(err, wire.ErrBadID):
		cure = "give it another with --rename OLD=NEW"
	case errors.Is(err, dart.ErrNotDart):
		cure = "copy it to operations/ of a ledger"
	case errors.Is(err, dart.ErrLocalTime):
		cure = "give the offset, like --time-zone +02:00, or write it after that time in a copy"
	}

	return cli.WithStatus(cli.StatusCorrupt, fmt.Errorf("%s: %v: %s", file, err, cure))
}
