// Package upstream unpacks C programs of others, for tests and benchmarks that build real projects.
package upstream

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Where names the Debian package that Zlib takes the sources from.
const Where = "binutils-source"

// ErrMissing means that the package is not installed, or tar or xz is not.
var ErrMissing = errors.New("the sources are not installed")

// archives are where the package has its sources.
const archives = "/usr/src/binutils/binutils-*.tar.xz"

// Available returns ErrMissing if Zlib would.
func Available() error {
	_, err := archive()
	for _, program := range []string{"tar", "xz"} {
		if _, missing := exec.LookPath(program); missing != nil {
			err = errors.Join(err, fmt.Errorf("%w: %w", ErrMissing, missing))
		}
	}
	return err
}

func archive() (string, error) {
	found, err := filepath.Glob(archives)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("%w: %s: install %s", ErrMissing, archives, Where)
	}
	if err != nil {
		return "", err
	}
	return found[0], nil
}

// Zlib fills the directory dir with the sources of zlib, and a Makefile for its library and
// minigzip that compiles each file with $(CC). It returns the number of files to compile.
func Zlib(dir string) (files int, err error) {
	if err := Available(); err != nil {
		return 0, err
	}

	path, err := archive()
	if err != nil {
		return 0, err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return 0, err
	}

	tar := exec.Command("tar", "-xJf", path, "-C", dir, "--strip-components=2", "--wildcards",
		"--no-wildcards-match-slash", "binutils-*/zlib/*.[ch]")
	if out, err := tar.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%v: %w: %s", tar, err, out)
	}

	var objects []string
	names, err := filepath.Glob(filepath.Join(dir, "*.c"))
	for _, name := range names {
		if base := filepath.Base(name); base != "example.c" && base != "minigzip.c" {
			objects = append(objects, strings.TrimSuffix(base, ".c")+".o")
		}
	}

	if err != nil || len(objects) == 0 {
		return 0, fmt.Errorf("%s has no zlib: %w", path, err)
	}

	rules := "objects = " + strings.Join(objects, " ") + "\n\n" +
		"minigzip: minigzip.o libz.a\n\t$(CC) -o $@.part minigzip.o libz.a && mv $@.part $@\n\n" +
		"libz.a: $(objects)\n\trm -f $@.part && ar cr $@.part $(objects) && mv $@.part $@\n\n" +
		"%.o: %.c\n\t$(CC) -O3 -DHAVE_UNISTD_H -DHAVE_STDARG_H -w -c -o $@.part $< && mv $@.part " +
		"$@\n"

	return len(objects) + 1, os.WriteFile(filepath.Join(dir, "Makefile"), []byte(rules), 0o600)
}
