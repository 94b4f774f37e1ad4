package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// modules makes go list print a line for each package of another module: PATH VERSION, a tab, and
// the module's directory.
const modules = "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}{{end}}"

// allLicences returns licences of each of platforms.
func allLicences(platforms []string) (map[string][]byte, error) {
	all := map[string][]byte{}
	for _, platform := range platforms {
		text, err := licences(platform)
		if err != nil {
			return nil, err
		}
		all[platform] = text
	}

	return all, nil
}

// licences returns the licences of the modules that are linked into the commands of platform. Each
// of them asks for its text to go with the binaries. Go's own library has that of golang.org/x/sys,
// word for word.
func licences(platform string) ([]byte, error) {
	texts := map[string][]byte{}
	system, architecture, _ := strings.Cut(platform, "-")
	list := exec.Command("go", "list", "-deps", "-f", modules, "./cmd/...")
	list.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+architecture, "CGO_ENABLED=0")
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("%v: %w", list, err)
	}

	for line := range strings.Lines(string(out)) {
		module, dir, found := strings.Cut(strings.TrimSpace(line), "\t")
		if !found || texts[module] != nil {
			continue
		}
		if texts[module], err = licence(dir); err != nil {
			return nil, fmt.Errorf("%s: %w", module, err)
		}
	}

	var all bytes.Buffer
	all.WriteString("The commands of DPL contain the following, and the standard library of Go, " +
		"which has the licence of golang.org/x/sys.\n")
	for _, module := range slices.Sorted(maps.Keys(texts)) {
		fmt.Fprintf(&all, "\n--- %s\n\n%s\n", module, bytes.TrimSpace(texts[module]))
	}

	return all.Bytes(), nil
}

// licence returns the text of the licence in the directory of a module.
func licence(dir string) ([]byte, error) {
	var names []string
	for _, pattern := range []string{"LICENSE*", "COPYING*"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, err
		}
		names = append(names, found...)
	}

	if len(names) != 1 {
		return nil, fmt.Errorf("%d files LICENSE* or COPYING*, want one", len(names))
	}
	return os.ReadFile(names[0])
}
