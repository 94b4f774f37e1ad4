//go:build linux

package nights

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/dpl-project/dpl/testscripts/poll"
	"github.com/dpl-project/dpl/testscripts/strict"
)

// rows are the rows of the table: some 5 MB of text, and 1.3 MB when compressed.
const rows = 20_000

// A database is a PostgreSQL server of its own, which listens only at a socket in its directory.
type database struct {
	t      testing.TB
	bin    string // PostgreSQL's own programs
	dir    string
	server *exec.Cmd
}

// postgresql returns the directory of the newest server of PostgreSQL.
func postgresql(t testing.TB) string {
	t.Helper()
	all, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if len(all) == 0 {
		strict.Skip(t, "needs postgresql")
	}
	version := func(path string) int {
		n, _ := strconv.Atoi(strings.Split(path, "/")[4])
		return n
	}
	return filepath.Dir(slices.MaxFunc(all, func(a, b string) int { return version(a) - version(b) }))
}

// newDatabase makes and starts a database with one table.
func newDatabase(t testing.TB, dir string) *database {
	d := &database{t: t, bin: postgresql(t), dir: dir}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if who := d.owner(); who != nil {
		if err := os.Chown(dir, int(who.Uid), int(who.Gid)); err != nil {
			t.Fatal(err)
		}
	}

	d.run(d.command("initdb", "--no-sync", "--no-instructions", "--auth=trust", "--username=backup",
		"--encoding=UTF8", "--locale=C", "--wal-segsize=1", "--pgdata="+d.data()))
	d.start()
	t.Cleanup(d.stop)
	d.run(d.command("psql", "--no-psqlrc", "--quiet", "--command", fmt.Sprintf(`
		create table customers as select i, md5(i::text) as name, repeat(md5((i * 3)::text), 6) as text
		from generate_series(1, %d) as i`, rows)))
	return d
}

func (d *database) data() string { return filepath.Join(d.dir, "data") }

// variables are what a client needs to find the database.
func (d *database) variables() []string {
	return []string{"PGHOST=" + d.dir, "PGUSER=backup", "PGDATABASE=postgres"}
}

// owner returns the user of the server, which refuses to run as root; nil is this user.
func (d *database) owner() *syscall.Credential {
	if os.Geteuid() != 0 {
		return nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			uid, _ := strconv.Atoi(u.Uid)
			gid, _ := strconv.Atoi(u.Gid)
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		}
	}
	d.t.Fatal("there is no user postgres, and no user nobody")
	return nil
}

func (d *database) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(d.bin, name), args...)
	cmd.Dir = d.dir
	cmd.Env = append([]string{"PATH=" + d.bin + ":" + os.Getenv("PATH"), "LC_ALL=C"}, d.variables()...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: d.owner(), Setsid: true}
	return cmd
}

func (d *database) run(cmd *exec.Cmd) {
	d.t.Helper()
	if out, err := cmd.CombinedOutput(); err != nil {
		d.t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
}

// start starts the server, and returns when it answers.
func (d *database) start() {
	d.t.Helper()
	d.server = d.command("postgres", "-D", d.data(), "-c", "listen_addresses=", "-c", "fsync=off",
		"-c", "unix_socket_directories="+d.dir, "-c", "shared_buffers=8MB",
		"-c", "max_connections=20", "-c", "max_wal_size=8MB", "-c", "min_wal_size=2MB")
	log, err := os.OpenFile(filepath.Join(d.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		d.t.Fatal(err)
	}
	defer log.Close()
	d.server.Stdout, d.server.Stderr = log, log
	if err := d.server.Start(); err != nil {
		d.t.Fatal(err)
	}
	poll.Until(d.t, "the database server answers", func() bool {
		return d.command("pg_isready", "--quiet").Run() == nil
	})
}

// stop stops the server without a checkpoint, as a crash does. Its clients lose their connection.
func (d *database) stop() {
	d.server.Process.Signal(syscall.SIGQUIT)
	d.server.Wait()
}
