//go:build linux

package testscripts

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/audit"
	rules "github.com/dpl-project/dpl/protocol/check"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/question"
	"github.com/dpl-project/dpl/protocol/queue"
)

// keptKinds says how to read each kind of file, and what the reader writes again: "" if files of
// that kind are never written by a program that has read them. The first pattern that matches
// counts.
var keptKinds = []struct {
	path *regexp.Regexp
	read func(text string) (string, error)
}{
	{regexp.MustCompile(`\.lock$|\.origin$|\.log$|^notes/|^failures/`), nil},
	{regexp.MustCompile(`\.audit(~\d+)?\.jsonl$`), lines(func(line string) (string, error) {
		_, err := audit.Parse(line)
		return "", err
	})},
	{regexp.MustCompile(`\.ended\.jsonl$`), lines(func(line string) (string, error) {
		_, err := queue.DecodeRemembered(line)
		return "", err
	})},
	{regexp.MustCompile(`\.seen~`), again(observe.DecodeSightings)},
	{regexp.MustCompile(`^exits/`), func(text string) (string, error) {
		_, err := group.DecodeExitRecord(text)
		return "", err
	}},
	{regexp.MustCompile(`^[^/]*\.orchestrator\.json(\.\d+)?$`), again(group.DecodeOrchestrator)},
	{regexp.MustCompile(`^[^/]*\.supervisors\.json(\.\d+)?$`), again(group.DecodeRegistry)},
	{regexp.MustCompile(`^(operations|archive)/[^/]*\.json(\.\d+)?$`), again(protocol.Decode)},
	{regexp.MustCompile(`^queues/[^/]*\.json(\.\d+)?$`), again(queue.Decode)},
	{regexp.MustCompile(`^queues/tasks/.*\.start\.json$`), again(rules.DecodeSnapshot)},
	{regexp.MustCompile(`^(ledger\.json|restarts/.*|queues/tasks/.*|.*\.alerts\.jsonl)$`), nil},
}

// keptInputs says how to read each file that users write.
var keptInputs = map[string]func(text string) error{
	"check.json":    func(text string) error { _, err := rules.Decode(text); return err },
	"rules.json":    func(text string) error { _, err := question.Decode(text); return err },
	"services.json": func(text string) error { _, err := group.DecodeServices(text); return err },
}

type encoder interface{ Encode() string }

// again returns a reader that decodes and encodes.
func again[T encoder](decode func(string) (T, error)) func(string) (string, error) {
	return func(text string) (string, error) {
		value, err := decode(text)
		if err != nil {
			return "", err
		}
		return value.Encode(), nil
	}
}

// lines returns a reader of each line.
func lines(read func(string) (string, error)) func(string) (string, error) {
	return func(text string) (string, error) {
		for line := range strings.Lines(text) {
			if _, err := read(strings.TrimSuffix(line, "\n")); err != nil {
				return "", err
			}
		}
		return "", nil
	}
}

// TestKeptFiles decodes each file of the ledgers in spec/vectors/kept, and encodes it to the same
// bytes.
func TestKeptFiles(t *testing.T) {
	t.Parallel()
	ledgers, err := filepath.Glob(filepath.Join(root, "spec/vectors/kept/*/*/ledger.json"))
	if err != nil || len(ledgers) == 0 {
		t.Fatalf("no ledgers are kept: %v", err)
	}

	for _, ledger := range ledgers {
		dir := filepath.Dir(ledger)
		err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(filepath.Join(dir, path))
			if err == nil {
				readKept(t, path, string(text))
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestKeptInputs decodes the files that users wrote for earlier versions.
func TestKeptInputs(t *testing.T) {
	t.Parallel()
	for name, read := range keptInputs {
		files, err := filepath.Glob(filepath.Join(root, "spec/vectors/kept/*/files", name))
		if err != nil || len(files) == 0 {
			t.Fatalf("no %s is kept: %v", name, err)
		}
		for _, file := range files {
			if text, err := os.ReadFile(file); err != nil {
				t.Error(err)
			} else if err := read(string(text)); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}

func readKept(t *testing.T, path, text string) {
	for _, kind := range keptKinds {
		switch {
		case !kind.path.MatchString(path):
			continue
		case kind.read == nil:
			return
		}

		written, err := kind.read(text)
		if err != nil {
			t.Errorf("%s: %v", path, err)
		} else if written != "" && written != text {
			t.Errorf("%s: is written as\n%s\nwant\n%s", path, written, text)
		}
		return
	}

	t.Errorf("%s: a file of no kind", path)
}
