//go:build linux

package clients

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/testscripts/strict"
)

// What users of the packages run: a call, and a task of a queue.
const (
	pythonProgram = `import dpl
with dpl.call("python", op="packed") as call:
    call.heartbeat()
dpl.enqueue("letters", text="to Ada")
with dpl.claim("letters") as task:
    print(task.spec["text"], dpl.status("packed")["operation"]["state"])
`
	nodeProgram = `import { call, claim, enqueue, status } from "dpl-ledger";
await call({ name: "node", op: "packed" }, (call) => call.heartbeat());
await enqueue("letters", { text: "to Ada" });
const task = await claim("letters");
const text = await task.work((task) => task.spec.text);
console.log(text, (await status("packed")).operation.state);
`
)

// testPackages makes the packages for PyPI and npm, installs each in an empty place without the
// network, and makes a call from there.
func testPackages(t *testing.T, bin string) {
	t.Parallel()
	strict.Program(t, "npm")
	python := packer(t)
	packages := t.TempDir()
	pack := exec.Command("sh", "pack.sh", packages)
	pack.Env = append(os.Environ(), "PYTHON="+python)
	output(t, pack)

	for _, pattern := range []string{"*.whl", "*.tar.gz"} {
		t.Run(pattern, func(t *testing.T) {
			t.Parallel()
			w := emptyWorld(t, bin)
			venv := filepath.Join(w.dir, "venv")
			output(t, w.command(python, "-m", "venv", "--without-pip", venv))
			inside := filepath.Join(venv, "bin/python")
			output(t, w.command(python, "-m", "pip", "--isolated", "install", "--no-index",
				"--no-build-isolation", "--no-deps", "--quiet", "--target", siteOf(t, w, inside),
				one(t, packages, pattern)))
			w.says(pythonProgram, inside, "-I", "-")
		})
	}

	t.Run("npm", func(t *testing.T) {
		t.Parallel()
		w := emptyWorld(t, bin)
		w.write("package.json", `{"type": "module"}`, 0o644)
		output(t, w.command("npm", "install", "--offline", "--silent", "--no-audit", "--no-fund",
			one(t, packages, "*.tgz")))
		w.says(nodeProgram, "node", "--input-type=module", "-")
	})
}

// packer returns a Python that can make packages.
func packer(t *testing.T) string {
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(python, "-c", "import setuptools, wheel, pip, venv").Run() == nil {
			return python
		}
	}
	strict.Skip(t, "needs a Python with setuptools, wheel, pip and venv")
	return ""
}

// siteOf returns the directory of the modules of a Python.
func siteOf(t *testing.T, w *world, python string) string {
	return strings.TrimSpace(output(t, w.command(python, "-c",
		"import sysconfig; print(sysconfig.get_path('purelib'))")))
}

// emptyWorld is a world without the files of dpl.
func emptyWorld(t *testing.T, bin string) *world {
	w := newWorld(t, bin)
	for _, name := range []string{"dpl.py", "dpl.mjs"} {
		if err := os.Remove(filepath.Join(w.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// says runs an interpreter with a program, which must print what has been done.
func (w *world) says(program string, argv ...string) {
	w.t.Helper()
	cmd := w.command(argv...)
	cmd.Stdin = strings.NewReader(program)
	if got := output(w.t, cmd); got != "to Ada completed\n" {
		w.t.Errorf("%s: says %q", argv[0], got)
	}
}

func output(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s%s", cmd, err, out, stderr.String())
	}
	return string(out)
}

// one returns the one file of a directory with a name like pattern.
func one(t *testing.T, dir, pattern string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(names) != 1 {
		t.Fatalf("%s: %q, %v, want one", pattern, names, err)
	}
	return names[0]
}

// TestVersions compares the versions of the packages with the newest one of the changelog.
func TestVersions(t *testing.T) {
	t.Parallel()
	heading := regexp.MustCompile(`(?m)^## \[(\d+\.\d+\.\d+)\]`)
	changes := heading.FindStringSubmatch(read(t, root, "CHANGELOG.md"))
	if changes == nil {
		t.Fatal("CHANGELOG.md: no version")
	}

	var npm struct{ Version string }
	if err := json.Unmarshal([]byte(read(t, "package.json")), &npm); err != nil {
		t.Fatal(err)
	}
	if npm.Version != changes[1] {
		t.Errorf("package.json: version %s, want %s", npm.Version, changes[1])
	}
	if !strings.Contains(read(t, "pyproject.toml"), "\nversion = \""+changes[1]+"\"\n") {
		t.Errorf("pyproject.toml: want version %s", changes[1])
	}
}

// TestTypes compares the names that dpl.mjs exports with those in dpl.d.mts.
func TestTypes(t *testing.T) {
	t.Parallel()
	names := regexp.MustCompile(`(?m)^export (?:async )?(?:function\*?|class|const) (\w+)`)
	got := map[string]bool{}
	for _, found := range names.FindAllStringSubmatch(read(t, "dpl.d.mts"), -1) {
		got[found[1]] = true
	}

	exported := names.FindAllStringSubmatch(read(t, "dpl.mjs"), -1)
	for _, found := range exported {
		if !got[found[1]] {
			t.Errorf("dpl.d.mts: %s is missing: make it with tsc --declaration", found[1])
		}
	}
	if len(got) != len(exported) || len(got) < 20 {
		t.Errorf("dpl.d.mts has %d names, dpl.mjs exports %d", len(got), len(exported))
	}
}

func read(t *testing.T, elements ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(elements...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
