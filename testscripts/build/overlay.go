package build

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Overlay writes to dir what go needs to read other texts of files of the module in root, and
// returns the flag of go for that. The files are relative to root. One that the module lacks is
// added to it.
func Overlay(dir, root string, texts map[string]string) (flag string, err error) {
	replace := make(map[string]string)
	for file, text := range texts {
		path, err := filepath.Abs(filepath.Join(root, file))
		if err != nil {
			return "", err
		}
		replace[path] = filepath.Join(dir, strconv.Itoa(len(replace))+"-"+filepath.Base(file))
		if err := os.WriteFile(replace[path], []byte(text), 0o600); err != nil {
			return "", err
		}
	}

	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return "-overlay=" + path, os.WriteFile(path, list, 0o600)
}

// Seeded returns the flag of go for a bug: the only occurrence of old in file, which is relative to
// root, is replaced by new.
func Seeded(t testing.TB, root, file, old, new string) (flag string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(text), old) != 1 {
		t.Fatalf("%s does not have %q exactly once: this test needs another place to break", file, old)
	}

	flag, err = Overlay(t.TempDir(), root, map[string]string{file: strings.Replace(string(text), old, new, 1)})
	if err != nil {
		t.Fatal(err)
	}
	return flag
}
