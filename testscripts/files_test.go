//go:build unix

package testscripts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/rogpeppe/go-internal/testscript"
)

// operation is what op looks at. Its decoding owes nothing to the package protocol.
type operation struct {
	ID       string `json:"operationId"`
	State    string `json:"state"`
	Revision int    `json:"revision"`
	Stack    []struct {
		CallID string `json:"callId"`
		State  string `json:"state"`
	} `json:"stack"`
}

func readOperation(path string) (op operation, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return op, err
	}
	if !jsontext.Value(data).IsValid() || !bytes.HasSuffix(data, []byte("}\n")) {
		return op, fmt.Errorf("%s is no JSON document that ends in a newline:\n%s", path, data)
	}
	if err := json.Unmarshal(data, &op); err != nil {
		return op, fmt.Errorf("%s: %w", path, err)
	}

	id, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(path), ".json"), "~")
	if op.ID != id {
		return op, fmt.Errorf("%s: operationId %q", path, op.ID)
	}

	return op, nil
}

func checkOperation(ts *testscript.TestScript, args []string) error {
	if len(args) < 2 {
		return errUsage
	}

	op, err := readOperation(filepath.Join(ts.Getenv("OPS"), args[0]+".json"))
	if err != nil {
		return err
	}

	var stack []string
	for _, f := range op.Stack {
		stack = append(stack, f.CallID+":"+f.State)
	}

	if op.State != args[1] || !slices.Equal(stack, args[2:]) {
		return fmt.Errorf("got %s %s %s, want %s", args[0], op.State, strings.Join(stack, " "),
			strings.Join(args, " "))
	}

	return nil
}

func checkArchived(ts *testscript.TestScript, args []string) error {
	if len(args) != 2 {
		return errUsage
	}

	id, _, _ := strings.Cut(args[0], "~")
	for _, name := range []string{id + ".json", id + ".json.lock"} {
		if _, err := os.Lstat(filepath.Join(ts.Getenv("OPS"), name)); err == nil {
			return fmt.Errorf("%s is there", name)
		}
	}

	op, err := readOperation(filepath.Join(ts.Getenv("ARCHIVE"), args[0]+".json"))
	if err == nil && op.State != args[1] {
		err = fmt.Errorf("got %s, want %s", op.State, args[1])
	}
	return err
}

func checkFields(ts *testscript.TestScript, args []string) error {
	if len(args) < 2 {
		return errUsage
	}

	text := ""
	if args[0] == "stdout" || args[0] == "stderr" {
		text = ts.ReadFile(args[0])
	} else {
		data, err := os.ReadFile(ts.MkAbs(args[0]))
		if err != nil {
			return err
		}
		text = string(data)
	}

	if !jsontext.Value(text).IsValid() {
		return fmt.Errorf("%s is not one JSON document:\n%s", args[0], text)
	}

	var document any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&document); err != nil {
		return err
	}

	for _, arg := range args[1:] {
		path, want, ok := strings.Cut(arg, "=")
		if !ok {
			return errUsage
		}
		if got := strings.Join(values(document, strings.Split(path, ".")), " "); got != want {
			return fmt.Errorf("%s: got %s, want %s", path, got, want)
		}
	}

	return nil
}

// values returns the texts of the values at path in v.
func values(v any, path []string) []string {
	if len(path) == 0 {
		if s, ok := v.(string); ok {
			return []string{s}
		}
		text, _ := json.Marshal(v)
		return []string{string(text)}
	}

	first, rest := path[0], path[1:]
	switch v := v.(type) {
	case map[string]any:
		if inner, ok := v[first]; ok {
			return values(inner, rest)
		}
		var all []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if first == "*" {
				all = append(all, values(v[name], rest)...)
			}
		}
		if first == "*" {
			return all
		}
	case []any:
		if first == "len" {
			return []string{strconv.Itoa(len(v))}
		}
		var all []string
		for i, inner := range v {
			if first == "*" || first == strconv.Itoa(i) {
				all = append(all, values(inner, rest)...)
			}
		}
		if first == "*" || all != nil {
			return all
		}
	}

	return []string{"absent"}
}

// photograph returns what can be seen of each file below paths; of a directory, only its mode.
func photograph(paths []string) (map[string]string, error) {
	seen := make(map[string]string)
	for _, path := range paths {
		err := filepath.WalkDir(path, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return ignoreMissing(err)
			}

			info, err := d.Info()
			if err != nil {
				return ignoreMissing(err)
			}

			content := ""
			switch {
			case d.IsDir(): // edits that end in nothing have their temporary files there
				seen[path] = info.Mode().String()
				return nil
			case info.Mode().IsRegular():
				data, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				content = string(data)
			case info.Mode()&fs.ModeSymlink != 0:
				content, _ = os.Readlink(path)
			}

			seen[path] = fmt.Sprintln(info.Mode(), info.ModTime().UnixNano()) + content
			return nil
		})

		if err != nil {
			return nil, err
		}
	}

	return seen, nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func freeze(ts *testscript.TestScript, args []string) (err error) {
	s := stateOf(ts)
	s.paths = []string{ts.Getenv("DPL_LEDGER")}
	for _, path := range args {
		s.paths = append(s.paths, ts.MkAbs(path))
	}
	s.frozen, err = photograph(s.paths)
	return err
}

func unchanged(ts *testscript.TestScript, args []string) error {
	s := stateOf(ts)
	seen, err := photograph(s.paths)
	if err != nil {
		return err
	}

	for path, now := range seen {
		if then, ok := s.frozen[path]; !ok {
			return fmt.Errorf("%s is new", path)
		} else if then != now {
			return fmt.Errorf("%s has changed: it was\n%s\nand is\n%s", path, then, now)
		}
	}

	for path := range s.frozen {
		if _, ok := seen[path]; !ok {
			return fmt.Errorf("%s is gone", path)
		}
	}

	return nil
}

func tidy(ts *testscript.TestScript, args []string) error {
	seen, err := photograph([]string{ts.Getenv("DPL_LEDGER")})
	if err != nil {
		return err
	}

	for path := range seen {
		name := filepath.Base(path)
		operation, isLock := strings.CutSuffix(path, ".lock")
		_, hasOperation := seen[operation]
		_, hasGroup := seen[operation+".supervisors.json"]
		if strings.Contains(name, ".tmp~") || strings.Contains(name, "trash") || isLock &&
			!hasOperation && !hasGroup {
			return fmt.Errorf("%s was left", path)
		}
	}

	return nil
}

// hasTmp is a check: hastmp OPERATION CALL...: each call has a temporary directory.
func hasTmp(ts *testscript.TestScript, args []string) error { return checkTmp(ts, args, true) }

// hasNoTmp is a check: notmp OPERATION CALL...: no call has one.
func hasNoTmp(ts *testscript.TestScript, args []string) error { return checkTmp(ts, args, false) }

func checkTmp(ts *testscript.TestScript, args []string, want bool) error {
	for _, call := range args[1:] {
		dirs, err := filepath.Glob(filepath.Join(ts.Getenv("DPL_LEDGER"), "tmp", args[0], "*~"+call))
		if err != nil || len(dirs) > 0 != want {
			return fmt.Errorf("call %s has temporary directories %q, %v", call, dirs, err)
		}
	}
	return nil
}
