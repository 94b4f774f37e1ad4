package main

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// release is what all packages of one run have in common.
type release struct {
	version  string
	time     time.Time
	licences map[string][]byte // by platform: of what is linked into its commands
	bills    bool              // also write bills of materials
}

// without lists the files that the archive for an operating system leaves out. Files for a shell,
// make or cron, and manuals, are of no use on Windows.
var without = map[string][]string{
	"linux":  nil,
	"darwin": {"lib/systemd", "share/systemd"},
	"windows": {"lib/systemd", "share/systemd", "share/man", "share/bash-completion", "share/zsh",
		"share/fish",
		"share/dpl/cron", "share/dpl/examples", "share/dpl/dpl.sh", "share/dpl/dpl.mk"},
}

// architectures are the names that nfpm, like Debian, has for platforms.
var architectures = map[string]string{"linux-amd64": "amd64", "linux-arm64": "arm64"}

// make writes the packages of the platforms, and SHA256SUMS, to the directory out.
func (r release) make(stage, out string, platforms []string) error {
	if r.version == "" || r.version == "unknown" {
		return fmt.Errorf("version %q: make dist is for a clone of the repository, with git",
			r.version)
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}

	files := map[string][]byte{}
	for _, platform := range platforms {
		packages, err := r.packages(stage, platform)
		if err != nil {
			return fmt.Errorf("%s: %w", platform, err)
		}
		maps.Copy(files, packages)
	}

	formula, err := r.homebrew(files)
	if err != nil {
		return err
	}
	if formula != nil {
		files["dpl.rb"] = formula
	}

	var sums strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(files[name]), name)
		if err := os.WriteFile(filepath.Join(out, name), files[name], 0o644); err != nil {
			return err
		}
	}

	return os.WriteFile(filepath.Join(out, "SHA256SUMS"), []byte(sums.String()), 0o644)
}

// packages returns the packages of a platform by their file names.
func (r release) packages(stage, platform string) (map[string][]byte, error) {
	commands, err := readTree(filepath.Join(stage, platform))
	if err != nil {
		return nil, err
	}

	shared, err := readTree(filepath.Join(stage, "archive/usr/local"))
	if err != nil {
		return nil, err
	}

	system, _, _ := strings.Cut(platform, "-")
	leave, known := without[system]
	if !known {
		return nil, fmt.Errorf("no such operating system")
	}

	files := shared.without("bin", manifest).without(leave...)
	files = append(files, commands.below("bin")...)
	files = append(files, file{"share/doc/dpl/THIRD-PARTY-LICENSES", 0o644, r.licences[platform]})
	files.sort()

	name := "dpl-" + r.version + "-" + platform
	packages := map[string][]byte{}
	if system == "windows" {
		packages[name+".zip"], err = zipped(files.below(name), r.time)
	} else {
		packages[name+".tar.gz"], err = tarGz(files.below(name), r.time)
	}

	if err == nil && r.bills {
		packages[name+".cdx.json"], err = r.billOf(commands)
	}
	if err == nil && architectures[platform] != "" {
		var others map[string][]byte
		others, err = r.systemPackages(stage, platform, commands)
		maps.Copy(packages, others)
	}

	return packages, err
}

// manifest is the file for uninstall.sh. Packages that other programs unpack do not need it.
const manifest = "share/dpl/installed"
