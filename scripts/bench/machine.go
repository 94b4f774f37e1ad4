//go:build linux

package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A fact is something that the numbers depend on.
type fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// fileSystems are the names of what statfs(2) tells.
var fileSystems = map[int64]string{
	unix.BTRFS_SUPER_MAGIC: "btrfs", unix.EXT4_SUPER_MAGIC: "ext2, 3 or 4",
	unix.NFS_SUPER_MAGIC: "nfs", unix.OVERLAYFS_SUPER_MAGIC: "overlay",
	unix.TMPFS_MAGIC: "tmpfs", unix.XFS_SUPER_MAGIC: "xfs", 0x2fc12fc1: "zfs",
	unix.F2FS_SUPER_MAGIC: "f2fs", unix.FUSE_SUPER_MAGIC: "fuse",
}

// look returns the facts of this run.
func (b *bench) look() (facts []fact, err error) {
	note := func(name, value string) { facts = append(facts, fact{name, value}) }
	note("date", time.Now().UTC().Format(time.RFC3339))
	note("processor", fmt.Sprintf("%s, %d of them", lineOf("/proc/cpuinfo", "model name"),
		runtime.NumCPU()))
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		note("load", strings.TrimSpace(string(load)))
	}

	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return nil, err
	}

	note("kernel", unix.ByteSliceToString(u.Release[:]))
	var fs unix.Statfs_t
	if err := unix.Statfs(b.work, &fs); err != nil {
		return nil, err
	}

	name, ok := fileSystems[int64(fs.Type)]
	if !ok {
		name = fmt.Sprintf("of type %#x", fs.Type)
	}

	note("file system", name+", "+b.work)
	note("Go", runtime.Version())
	note("commands", b.version(b.command("dpl-heartbeat"), "--version"))
	t := b.tools

	for _, p := range []struct{ name, program, flag string }{
		{"sqlite3", t.sqlite, "--version"}, {"redis-cli", t.redis, "--version"},
		{"jq", t.jq, "--version"}, {"python3", t.python, "--version"},
	} {
		if p.program != "" {
			note(p.name, b.version(p.program, p.flag))
		}
	}

	return facts, nil
}

// version returns the beginning of the first line that a program prints of itself.
func (b *bench) version(program, flag string) string {
	out, err := b.prepare(program, flag)
	if err != nil {
		return err.Error()
	}
	line, _, _ := strings.Cut(out, "\n")
	return line[:min(len(line), 60)]
}

// lineOf returns the value of the first line of a file that begins with name.
func lineOf(file, name string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return "unknown"
	}

	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}

	return "unknown"
}
