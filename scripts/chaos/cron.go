//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/testscripts/poll"
)

const nobody = 65534

// becomeNobody gives the user nobody a home in this world, with a ledger and the commands, and
// returns a function that makes commands of that user.
func (w *world) becomeNobody() (home, bin string, as func(words ...string) *exec.Cmd) {
	w.must(os.Chmod(w.dir, 0o711))
	home, bin = filepath.Join(w.dir, "nobody"), filepath.Join(w.dir, "bin")
	w.must(os.Mkdir(home, 0o700))
	w.must(os.Chown(home, nobody, nobody))
	w.must(os.Mkdir(bin, 0o755))
	for _, name := range []string{"dpl-run", "dpl-cleanup", "dpl-status"} {
		w.must(exec.Command("cp", filepath.Join(w.bin, name), bin).Run())
	}

	w.ledger = filepath.Join(home, ".local", "state", "dpl")

	return home, bin, func(words ...string) *exec.Cmd {
		cmd := exec.CommandContext(w.ctx, words[0], words[1:]...)
		cmd.Dir = home
		cmd.Env = []string{"HOME=" + home, "LOGNAME=nobody", "SHELL=/bin/sh", "PATH=/usr/bin:/bin"}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody,
			Gid: nobody}}
		return cmd
	}
}

// leaveNobody checks that the user nobody has left no process, and removes the ledger.
func (w *world) leaveNobody() {
	w.env = append(w.env, "DPL_LEDGER="+w.ledger)
	w.until("no process is left", func() bool { return len(w.processes()) == 0 })
	if left := w.files(); len(left) > 0 {
		w.fail("files are left: %v", left)
	}
	w.must(os.RemoveAll(w.ledger))
}

// cronAsNobody cleans up as cron does for a user who has nothing: silently.
func cronAsNobody(w *world) {
	_, bin, as := w.becomeNobody()
	cleanup := func() {
		if out, err := as(filepath.Join(bin, "dpl-cleanup"),
			"--if-exists").CombinedOutput(); err != nil || len(out) > 0 {
			w.fail("cron would send a mail: %v: %s", err, out)
		}
	}

	cleanup()

	job := as(filepath.Join(bin, "dpl-run"), "--op", "night", "--", "/bin/sleep", "5001")
	w.must(job.Start())
	file := filepath.Join(w.ledger, "operations", "night.json")
	w.until("the call is open", func() bool { _, err := os.Stat(file); return err == nil })
	cleanup()
	time.Sleep(time.Duration(w.intn(200)) * time.Millisecond)
	job.Process.Kill()
	job.Wait()
	w.until("cron has archived the operation", func() bool {
		out, err := as(filepath.Join(bin, "dpl-cleanup"), "--if-exists").CombinedOutput()
		if _, failed := err.(*exec.ExitError); failed && strings.Contains(string(out), "panic") {
			w.fail("%s", out)
		}
		_, err = os.Stat(file)
		return err != nil
	})

	if op := w.archived()["night"]; op.State != "failed" {
		w.fail("night is archived as %q", op.State)
	}

	w.leaveNobody()
}

// cronScript installs the crontab $1 for the user nobody in a mount namespace without any other
// table, and executes cron.
const cronScript = `set -e
mount -t tmpfs -o mode=755 dpl-cron /run
mount -t tmpfs -o mode=1730 dpl-cron /var/spool/cron/crontabs
mount -t tmpfs dpl-cron /etc/cron.d
mount --bind /dev/null /etc/crontab
crontab -u nobody "$1"
exec cron -f`

// cronPatience is how long cron gets: it begins its jobs at full minutes.
const cronPatience = 150 * time.Second

// realCron uses a crontab of the user nobody to clean up after jobs, most of which are killed.
func realCron(w *world) {
	home, bin, as := w.becomeNobody()
	said := filepath.Join(home, "said")
	table := filepath.Join(w.dir, "crontab")
	w.must(os.WriteFile(table, []byte("SHELL=/bin/sh\nMAILTO=\"\"\nDPL_LEDGER="+w.ledger+"\n"+
		"* * * * * for i in 1 2 3 4; do "+bin+"/dpl-cleanup --if-exists; done >>"+said+" 2>&1; echo over >>"+said+"\n"), 0o644))
	cron := w.command("unshare", "--mount", "sh", "-c", cronScript, "sh", table)
	w.must(cron.Start())
	defer func() {
		cron.Process.Kill()
		cron.Wait()
	}()

	killed := make(map[string]bool)
	begun := time.Now()
	for n := 0; n < 20 || len(lines(said)) == 0; n++ {
		if time.Since(begun) > cronPatience {
			w.fail("cron has run nothing")
		}

		op := fmt.Sprint("job", n)
		killed[op] = w.intn(3) > 0
		job := as(filepath.Join(bin, "dpl-run"), "--op", op, "--", "/bin/sh", "-c",
			"sleep 0.3; exit 0")
		w.must(job.Start())
		if killed[op] {
			time.Sleep(time.Duration(100+w.intn(150)) * time.Millisecond)
			job.Process.Kill()
		}

		job.Wait()
	}

	runs := len(lines(said))
	if !poll.Within(2*cronPatience, func() bool { return len(lines(said)) >= runs+2 }) {
		w.fail("cron has stopped: %q", lines(said))
	}

	for _, line := range lines(said) {
		if line != "over" {
			w.fail("cron would send a mail: %s", line)
		}
	}

	cron.Process.Kill()
	for op, archived := range w.archived() {
		if archived.State == "failed" && !killed[op] {
			w.fail("%s, which nobody has killed, failed", op)
		}
	}

	w.leaveNobody()
}

// lines returns the lines of a file, none if there is none.
func lines(path string) (all []string) {
	text, _ := os.ReadFile(path)
	for line := range strings.Lines(string(text)) {
		all = append(all, strings.TrimSuffix(line, "\n"))
	}
	return all
}
