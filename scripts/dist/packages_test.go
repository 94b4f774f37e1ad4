package main

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	programs "github.com/dpl-project/dpl/testscripts/build"
	"github.com/dpl-project/dpl/testscripts/strict"
)

// readableModes are those of directories, programs, files and links in packages. Systems ignore the
// permissions of a link.
var readableModes = []string{"drwxr-xr-x", "-rwxr-xr-x", "-rw-r--r--", "l---------"}

// packagedFiles returns the expected files of a package for rpm or apk, below /usr.
func packagedFiles(t *testing.T, source string, units bool) []string {
	t.Helper()
	want := []string{"usr/share/licenses/dpl/LICENSE", "usr/share/licenses/dpl/THIRD-PARTY-LICENSES"}
	for _, name := range packed(t, source) {
		switch {
		case name == "share/doc/dpl/LICENSE":
			continue
		case strings.Contains(name, "/systemd/"):
			if !units {
				continue
			}
			name = strings.Replace(name, "share/systemd/user", "lib/systemd/user", 1)
		case strings.HasPrefix(name, "share/man/"):
			name += ".gz"
		}
		want = append(want, "usr/"+name)
	}
	return want
}

// rpmPackage checks the files in a package for rpm, and the sums that it has.
func rpmPackage(t *testing.T, source, rpm string) {
	strict.Program(t, "rpm")
	var got []string
	query := exec.Command("rpm", "-qp", "--queryformat",
		"[%{FILENAMES} %{FILEMODES:perms} %{FILEUSERNAME} %{FILEGROUPNAME}\n]", rpm)
	for line := range strings.Lines(output(t, query)) {
		fields := strings.Fields(line)
		if !strings.HasPrefix(fields[1], "d") {
			got = append(got, strings.TrimPrefix(fields[0], "/"))
		}
		if !slices.Contains(readableModes, fields[1]) || fields[2] != "root" || fields[3] != "root" {
			t.Errorf("%s: want it to be root's, and readable", line)
		}
	}
	same(t, "package", got, packagedFiles(t, source, true))

	sums := output(t, exec.Command("rpm", "-Kv", "--nosignature", rpm))
	if strings.Count(sums, ": OK\n") < 2 || strings.Contains(sums, "BAD") {
		t.Errorf("rpm -K: %s", sums)
	}
	scripts := output(t, exec.Command("rpm", "-qp", "--scripts", "--requires", rpm))
	if strings.Count(scripts, "removed.sh: what a package does") != 2 {
		t.Errorf("want two scripts, got %s", scripts)
	}
	t.Run("install", func(t *testing.T) { rpmInstall(t, rpm) })
}

// apkPackage checks the files in a package for apk, which is archives of tar, one after the other.
func apkPackage(t *testing.T, source, apk string) {
	file, err := os.Open(apk)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()

	compressed, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}

	var got []string
	archive := tar.NewReader(compressed)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}

		if header.Name == ".PKGINFO" {
			about, err := io.ReadAll(archive)
			if want := "\npkgver = " + version(apk) + "\n"; err != nil ||
				!strings.Contains(string(about), want) {
				t.Errorf("want %q in\n%s: %v", want, about, err)
			}
		} else if header.Typeflag != tar.TypeDir {
			got = append(got, header.Name)
		}
		if header.Uid != 0 || header.Gid != 0 {
			t.Errorf("%s: of %d:%d, want root's", header.Name, header.Uid, header.Gid)
		}
	}
	same(t, "package", got, packagedFiles(t, source, false))
}

// version returns the version in the name of a package for apk.
func version(apk string) string {
	return strings.TrimSuffix(strings.TrimPrefix(filepath.Base(apk), "dpl_"), "_"+processor+".apk")
}

// checkBill compares a bill of materials with what go version says of the programs in an archive.
func checkBill(t *testing.T, dir, archive string) {
	var bill billOfMaterials
	if err := json.Unmarshal([]byte(text(t, only(t, dir, host+".cdx.json"))), &bill); err != nil {
		t.Fatal(err)
	}

	var got, want []string
	for _, c := range bill.Components {
		switch {
		case c.Type == "library" && c.Name != "std":
			got = append(got, c.Name+" "+c.Version)
		case c.Type == "file":
			got = append(got, c.Name)
		}
	}
	for _, program := range programs.Programs() {
		want = append(want, "bin/"+program)
		said := output(t, exec.Command("go", "version", "-m", filepath.Join(archive, "bin", program)))
		for _, found := range regexp.MustCompile(`(?m)^\tdep\t(\S+)\t(\S+)`).FindAllStringSubmatch(said,
			-1) {
			want = append(want, found[1]+" "+found[2])
		}
	}
	same(t, "bill of materials", got, want)
}

// checkFormula checks that Ruby reads the formula, if it is there, and that it has the archive.
func checkFormula(t *testing.T, dir string) {
	formula := text(t, dir, "dpl.rb")
	archive := filepath.Base(only(t, dir, host+".tar.gz"))
	if !regexp.MustCompile(`(?m)^      url "https://github\.com/dpl-project/dpl/releases/download/v\S+/` +
		regexp.QuoteMeta(archive) + `"\n      sha256 "[0-9a-f]{64}"$`).MatchString(formula) {
		t.Errorf("dpl.rb: want %s in\n%s", archive, formula)
	}
	if strings.Count(formula, " do\n")+strings.Count(formula, "def ")+1 !=
		len(regexp.MustCompile(`(?m)^ *end$`).FindAllString(formula, -1)) {
		t.Errorf("dpl.rb: blocks and ends differ:\n%s", formula)
	}
	if ruby, err := exec.LookPath("ruby"); err == nil {
		output(t, exec.Command(ruby, "-c", filepath.Join(dir, "dpl.rb")))
	}
}

// checkImage makes the root directory of the image, and checks what is in it.
func checkImage(t *testing.T, dir string) {
	image := filepath.Join(t.TempDir(), "image")
	output(t, exec.Command("sh", "image.sh", dir, image))
	root := filepath.Join(image, host)
	for _, name := range below(t, root) {
		if dir := path.Dir(name); dir != "usr/bin" && dir != "usr/share/doc/dpl" && name != "ledger/" {
			t.Errorf("%s: has no use in the image", name)
		}
	}
	t.Run("run", func(t *testing.T) { runImage(t, root) })
}
