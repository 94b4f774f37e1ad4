package main

import (
	"archive/zip"
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	programs "github.com/dpl-project/dpl/testscripts/build"
	bare "github.com/dpl-project/dpl/testscripts/programs"
	"github.com/dpl-project/dpl/testscripts/strict"
)

// host is the platform whose packages are installed and run.
const host = "linux-" + runtime.GOARCH

// processor is what rpm and apk call the processor of host.
var processor = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]

func TestMain(m *testing.M) { os.Exit(bare.Run(m, "dpkg", "rpm", "ruby")) }

// TestDist makes the packages for this platform, and examines their contents. With DPL_SOAK it makes
// all packages in two clones with different environments and empty build caches, and compares their
// bytes, which takes some minutes.
func TestDist(t *testing.T) {
	t.Parallel()
	if architectures[host] == "" {
		t.Skipf("makes no packages for %s", host)
	}

	all := repository(t)
	soak := os.Getenv("DPL_SOAK") != ""
	variable, env := "PLATFORMS="+host, []string{"TZ=Asia/Tokyo", "LC_ALL=C.UTF-8"}
	if soak {
		variable, env = "VERSION=v0.1.0", append(env, "GOCACHE="+t.TempDir())
	}
	first := dist(t, clone(t, all, "dpl"), "022", variable, env...)

	if soak {
		second := dist(t, clone(t, all, "another-clone"), "077", variable, "TZ=America/Lima",
			"LC_ALL=C", "GOFLAGS=-buildvcs=false", "GOCACHE="+t.TempDir(), "GOAMD64=v3",
			"GOARM64=v9.0")
		for _, name := range below(t, second) {
			if text(t, first, name) != text(t, second, name) {
				t.Errorf("%s differs in the second clone", name)
			}
		}
	}

	source := filepath.Join(first, "../..")
	t.Run("sums", func(t *testing.T) { checkSums(t, first) })
	t.Run("linux", func(t *testing.T) {
		linuxArchive(t, source,
			unpacked(t, first, host+".tar.gz"))
	})
	t.Run("windows", func(t *testing.T) {
		if !soak {
			t.Skip("needs DPL_SOAK=1")
		}
		windowsArchive(t,
			unpacked(t, first, "windows-amd64.zip"))
	})
	t.Run("debian", func(t *testing.T) {
		debianPackage(t, source,
			only(t, first, architectures[host]+".deb"))
	})
	t.Run("rpm", func(t *testing.T) { rpmPackage(t, source, only(t, first, processor+".rpm")) })
	t.Run("apk", func(t *testing.T) { apkPackage(t, source, only(t, first, processor+".apk")) })
	t.Run("bill", func(t *testing.T) { checkBill(t, first, unpacked(t, first, host+".tar.gz")) })
	t.Run("formula", func(t *testing.T) { checkFormula(t, first) })
	t.Run("image", func(t *testing.T) { checkImage(t, first) })
}

// checkSums makes the usual tool check the packages. SHA256SUMS must list all of them.
func checkSums(t *testing.T, dir string) {
	strict.Program(t, "sha256sum")
	check := exec.Command("sha256sum", "--check", "--strict", "SHA256SUMS")
	check.Dir = dir
	if got, want := strings.Count(output(t, check), ": OK\n"), len(below(t, dir))-1; got != want {
		t.Errorf("%d sums, want %d", got, want)
	}
}

// dist runs make dist in dir and returns the directory of the packages.
func dist(t *testing.T, dir, umask, variable string, env ...string) string {
	t.Helper()
	cmd := exec.Command("sh", "-c", `umask "$1"; exec make dist "$2"`, "sh", umask, variable)
	cmd.Dir = dir
	cmd.Env = stranger(t, env...)
	output(t, cmd)
	return filepath.Join(dir, "bin/dist")
}

// only returns the one file of a directory whose name ends in suffix.
func only(t *testing.T, dir, suffix string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*"+suffix))
	if err != nil || len(names) != 1 {
		t.Fatalf("*%s: %q, %v, want one", suffix, names, err)
	}
	return names[0]
}

// unpacked unpacks an archive and returns the one directory that is in it, which has its name.
func unpacked(t *testing.T, dir, suffix string) string {
	t.Helper()
	archive, to := only(t, dir, suffix), t.TempDir()
	if strings.HasSuffix(suffix, ".zip") {
		reader, err := zip.OpenReader(archive)
		if err != nil {
			t.Fatal(err)
		}
		defer reader.Close()
		if err := os.CopyFS(to, reader); err != nil {
			t.Fatal(err)
		}
	} else {
		output(t, exec.Command("tar", "-xzf", archive, "-C", to))
	}

	name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(archive), ".tar.gz"), ".zip")
	if inside, err := os.ReadDir(to); err != nil || len(inside) != 1 || inside[0].Name() != name {
		t.Fatalf("%s: %v, %v, want %s alone", archive, inside, err, name)
	}

	return filepath.Join(to, name)
}

// packed returns the expected files below the prefix in a package.
func packed(t *testing.T, source string) []string {
	t.Helper()
	return slices.DeleteFunc(installed(t, source),
		func(name string) bool { return name == manifest })
}

// linuxArchive has what make install puts below /usr/local, and commands that need no other file.
func linuxArchive(t *testing.T, source, dir string) {
	want := append(packed(t, source), "share/doc/dpl/THIRD-PARTY-LICENSES")
	same(t, "archive", below(t, dir), want)
	for _, name := range commands(t) {
		isStatic(t, filepath.Join(dir, "bin", name))
		if runtime.GOOS == "linux" {
			out := output(t, exec.Command(filepath.Join(dir, "bin", name), "--version"))
			version, built, _ := strings.Cut(strings.TrimPrefix(out, name+" "), " (commit ")
			if !strings.HasPrefix(filepath.Base(dir), "dpl-"+version+"-linux-") ||
				!strings.Contains(built, ", "+committed+", go") {
				t.Errorf("%s --version: %q, in %s", name, out, filepath.Base(dir))
			}
		}
	}

	pages, err := filepath.Glob(filepath.Join(dir, "share/man/man1/*"))
	if err != nil {
		t.Fatal(err)
	}

	for _, page := range pages {
		if shown := text(t, page); !strings.Contains(shown, committed) &&
			!strings.Contains(shown, committedInWords) {
			t.Errorf("%s: has not the date of the commit, %s", page, committed)
		}
	}

	for _, module := range []string{"golang.org/x/sys v", "github.com/go-json-experiment/json v"} {
		if licences := text(t, dir,
			"share/doc/dpl/THIRD-PARTY-LICENSES"); !strings.Contains(licences, "\n--- "+module) {
			t.Errorf("the licence of %s is missing in\n%s", module, licences)
		}
	}
}

// isStatic fails if a command needs an interpreter or a library.
func isStatic(t *testing.T, name string) {
	t.Helper()
	binary, err := elf.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer binary.Close()

	for _, part := range binary.Progs {
		if part.Type == elf.PT_INTERP || part.Type == elf.PT_DYNAMIC {
			t.Errorf("%s: has a %v, want a static program", name, part.Type)
		}
	}
}

// windowsArchive has the programs, to which dpl links makes links, and what can be read or run there.
func windowsArchive(t *testing.T, dir string) {
	names := below(t, dir)
	for _, command := range programs.Programs() {
		if !slices.Contains(names, "bin/"+command+".exe") ||
			!bytes.HasPrefix([]byte(text(t, dir, "bin", command+".exe")), []byte("MZ")) {
			t.Errorf("bin/%s.exe: is missing, or no program of Windows", command)
		}
	}

	for _, name := range []string{
		"share/doc/dpl/README.md", "share/doc/dpl/LICENSE", "share/doc/dpl/THIRD-PARTY-LICENSES",
		"share/dpl/schemas/operation.schema.json",
	} {
		if !slices.Contains(names, name) {
			t.Errorf("%s is missing", name)
		}
	}

	for _, name := range names {
		switch extension := path.Ext(name); {
		case path.Dir(name) == "bin" && extension == ".exe",
			path.Dir(name) == "share/dpl" && slices.Contains([]string{".py", ".mjs", ".mts"}, extension),
			strings.HasPrefix(name, "share/dpl/schemas/"),
			strings.HasPrefix(name, "share/doc/dpl/"):
		default:
			t.Errorf("%s: has no use on Windows", name)
		}
	}
}
