//go:build linux

package nights

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/testscripts/rig"
	"github.com/dpl-project/dpl/testscripts/strict"
)

// cronScript runs in a mount namespace of its own: it installs the crontab $1, gives cron the
// program $2 to send mail with, and executes it, with no other table.
const cronScript = `set -e
mount -t tmpfs -o mode=755 dpl-cron /run
mount -t tmpfs -o mode=700 dpl-cron /var/spool/cron/crontabs
mount -t tmpfs dpl-cron /etc/cron.d
mount --bind /dev/null /etc/crontab
mkdir /run/real /run/sbin
mount --bind /usr/sbin /run/real
ln -s /run/real/* /run/sbin
ln -sf "$2" /run/sbin/sendmail
mount --bind /run/sbin /usr/sbin
crontab "$1"
exec /run/real/cron -f`

// startCron starts a real cron with the crontab of the world.
func (w *world) startCron(t testing.TB) {
	strict.Program(t, "cron")
	w.cron = true
	text := "MAILTO=backup\n" + strings.Join(w.variables, "\n") + "\n" +
		"* * * * * " + w.line + "\n* * * * * " + cleanup + "\n"
	if err := os.WriteFile(w.path("crontab"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}

	cmd := exec.Command("unshare", "--mount", "--propagation", "private", "sh", "-c", cronScript,
		"sh", w.path("crontab"), filepath.Join(w.spool, "sendmail.sh"))
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
}

// awaitCron waits until cron has started the job, and reports whether it did.
func (w *world) awaitCron() bool {
	for limit := time.Now().Add(2 * time.Minute); time.Now().Before(limit); {
		if w.one(process.isOuter) != nil {
			return true
		}
		time.Sleep(100 * time.Millisecond) // to look costs more than to wait
	}
	return false
}

// underCron has everything killed in the first night, and nothing in the second. With DPL_SOAK there
// is a night each minute.
func (w *world) underCron() {
	began := time.Now()
	w.night(kinds[byName("everything killed")])
	for rig.Soak() && time.Since(began) < length {
		w.night(kinds[w.choose.IntN(len(kinds))])
	}
	w.night(undisturbed)
	w.end()
}

func byName(name string) int {
	for i, k := range kinds {
		if k.name == name {
			return i
		}
	}
	panic(name)
}
