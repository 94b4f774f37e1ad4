package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// nfpm makes the packages for package managers.
const nfpm = "github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.2"

const (
	maintainer = "The DPL authors <dpl-project@users.noreply.github.com>"
	homepage   = "https://github.com/dpl-project/dpl"
	summary    = "ledger of calls between processes, which notices the dead"
)

const description = `DPL, the Distributed Process Ledger, is for chains of calls between shell
scripts, makefiles, jobs, workers and agents, in any language. Each
participant runs one small command when it begins, now and then while it
works, and when it ends, or one around it that does all this. The commands
keep the stack of calls in a JSON file.

Whichever of them runs next notices that a participant has died, stops the
operation, deletes what the dead one had declared, and tells the others by
an exit status. Groups of services are started and restarted in the same
way. There is no daemon: if every participant dies, a timer or a line in a
crontab cleans up.`

// overrides tells lintian what is as it should be.
const overrides = `# The commands are to run wherever the ledger is: in a chroot, a container, an initramfs.
dpl: statically-linked-binary [usr/bin/dpl*]
# The licences of what is linked into the commands are there word for word.
dpl: copyright-file-contains-full-apache-2-license
dpl: copyright-not-using-common-license-for-apache2
`

// removed is the script of packages with units, which runs before and after their removal.
// Installing a package needs no action: systemd finds the units when they are enabled.
//
//go:embed removed.sh
var removed []byte

// A format is a kind of package.
type format struct {
	name    string // of nfpm
	version func(described string, when time.Time) string
	release string // the number of the package among those of one version

	description string
	moved       map[string]string // directories that make install uses, and their names there
	without     []string
	timers      bool   // it has units of systemd, which are disabled when it is removed
	licence     string // the directory of licences, or "" for a file copyright
}

var formats = []format{
	{
		name: "deb", version: debianVersion, description: summary + "\n" + description,
		moved: map[string]string{"share/zsh/site-functions": "share/zsh/vendor-completions",
			"share/systemd/user": "lib/systemd/user"},
		timers: true,
	},
	{
		name: "rpm", version: debianVersion, release: "1", description: description,
		licence: "share/licenses/dpl",
		moved:   map[string]string{"share/systemd/user": "lib/systemd/user"},
		timers:  true,
	},
	{
		name: "apk", version: alpineVersion, release: "r0", description: summary,
		licence: "share/licenses/dpl",
		without: []string{"lib/systemd", "share/systemd"},
	},
}

// systemPackages returns the packages of a platform for package managers, by file name, with the
// commands and the files staged below package/usr.
func (r release) systemPackages(stage, platform string, commands tree) (map[string][]byte, error) {
	shared, err := readTree(filepath.Join(stage, "package/usr"))
	if err != nil {
		return nil, err
	}

	all := map[string][]byte{}
	for _, f := range formats {
		files := r.contents(f, shared, r.licences[platform])
		files = append(files, commands.below("bin")...)
		name, data, err := r.pack(f, files.below("usr"), architectures[platform])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		all[name] = data
	}

	return all, nil
}

// contents returns the files of a package below /usr, without the commands.
func (r release) contents(f format, shared tree, theirs []byte) tree {
	var files tree
	for _, file := range shared.without("bin", manifest).without(f.without...) {
		if to := f.moved[path.Dir(file.path)]; to != "" {
			file.path = to + "/" + path.Base(file.path)
		}

		switch {
		case strings.HasPrefix(file.path, "share/man/"):
			file.path, file.data = file.path+".gz", gzipped(file.data)
		case file.path == "share/doc/dpl/LICENSE" && f.licence == "":
			file.path, file.data = "share/doc/dpl/copyright", r.copyright(file.data, theirs)
		case file.path == "share/doc/dpl/LICENSE":
			file.path = f.licence + "/LICENSE"
		}

		files = append(files, file)
	}

	if f.licence != "" {
		return append(files, file{f.licence + "/THIRD-PARTY-LICENSES", 0o644, theirs})
	}
	return append(files,
		file{"share/doc/dpl/changelog.gz", 0o644,
			gzipped([]byte(r.changelog(f.version(r.version, r.time))))},
		file{"share/lintian/overrides/dpl", 0o644, []byte(overrides)})
}

// copyright returns what Debian's policy requires about the origin, and all licences: ours and
// those of our dependencies.
func (r release) copyright(ours, theirs []byte) []byte {
	return fmt.Appendf(nil, "DPL was made by its authors, and is found at %s\n\n%s\n\n%s", homepage,
		bytes.TrimSpace(ours), theirs)
}

// changelog returns a changelog in Debian's format with an entry for the version.
func (r release) changelog(version string) string {
	return fmt.Sprintf("dpl (%s) unstable; urgency=medium\n\n  * See "+
		"/usr/share/doc/dpl/CHANGELOG.md.\n\n -- %s  %s\n",
		version, maintainer, r.time.Format(time.RFC1123Z))
}

// pack makes nfpm write a package with the files, and returns its file name and its bytes.
func (r release) pack(f format, files tree, architecture string) (string, []byte, error) {
	dir, err := os.MkdirTemp("", "dpl-dist")
	if err != nil {
		return "", nil, err
	}
	defer os.RemoveAll(dir)

	config, err := r.config(f, files, architecture, dir)
	if err != nil {
		return "", nil, err
	}

	out := filepath.Join(dir, "out")
	if err := os.Mkdir(out, 0o755); err != nil {
		return "", nil, err
	}
	cmd := exec.Command("go", "run", "-trimpath", nfpm, "package", "--packager", f.name, "--config",
		config, "--target", out+string(filepath.Separator))
	cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH="+strconv.FormatInt(r.time.Unix(), 10))
	if said, err := cmd.CombinedOutput(); err != nil {
		return "", nil, fmt.Errorf("%v: %w\n%s", cmd, err, said)
	}

	made, err := os.ReadDir(out)
	if err != nil || len(made) != 1 {
		return "", nil, fmt.Errorf("%v: made %d files, want one: %v", cmd, len(made), err)
	}
	data, err := os.ReadFile(filepath.Join(out, made[0].Name()))
	return made[0].Name(), data, err
}

// config writes the files and a configuration for nfpm to dir, and returns its path. It is JSON,
// which is YAML as well.
func (r release) config(f format, files tree, architecture, dir string) (string, error) {
	type object = map[string]any
	var contents []object
	for _, dir := range files.ownDirectories() {
		contents = append(contents, object{"dst": "/" + dir, "type": "dir",
			"file_info": object{"mode": 0o755, "mtime": r.time}})
	}
	for i, file := range files {
		content := object{"dst": "/" + file.path}
		if file.isLink() {
			content["type"], content["src"] = "symlink", string(file.data)
		} else {
			source := filepath.Join(dir, strconv.Itoa(i))
			if err := os.WriteFile(source, file.data, 0o644); err != nil {
				return "", err
			}
			content["src"] = source
			content["file_info"] = object{"mode": file.mode.Perm(), "mtime": r.time}
		}
		contents = append(contents, content)
	}

	scripts := object{}
	if f.timers {
		script := filepath.Join(dir, "removed.sh")
		if err := os.WriteFile(script, removed, 0o755); err != nil {
			return "", err
		}
		scripts = object{"preremove": script, "postremove": script}
	}

	data, err := json.Marshal(object{
		"scripts": scripts,
		"name":    "dpl", "arch": architecture, "platform": "linux",
		"version": f.version(r.version, r.time), "version_schema": "none", "release": f.release,
		"section": "utils", "priority": "optional", "license": "MIT", "homepage": homepage,
		"maintainer": maintainer, "description": f.description, "mtime": r.time,
		"disable_globbing": true, "contents": contents,
		"overrides": object{"deb": object{"suggests": []string{"cron | systemd"}}},
		"rpm":       object{"summary": summary, "buildhost": "localhost", "packager": maintainer},
	})
	if err != nil {
		return "", err
	}

	config := filepath.Join(dir, "nfpm.yaml")
	return config, os.WriteFile(config, data, fs.FileMode(0o644))
}
