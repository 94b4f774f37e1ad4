package process

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/process/proctest"

	"golang.org/x/sys/unix"
)

// One that has ended is not asked until the time is over.
func TestCarriesEnded(t *testing.T) {
	t.Parallel()
	c := proctest.Start(t, "echo").MustBeReady(t)
	mustNotCarry := func() {
		t.Helper()
		carried, certain := carries(c.Process.Pid, proctest.RoleVariable, "echo",
			time.Now().Add(time.Hour))
		if carried || !certain {
			t.Errorf("it carries what it was given: %t, for certain: %t", carried, certain)
		}
	}

	c.BecomeZombie(t)
	mustNotCarry()
	c.Wait()
	mustNotCarry()
}

// A kernel thread never has an environment, so it causes no doubt. A process started by the first
// one, which led no session, shares session 0 with all of them.
func TestCarriesKernelThread(t *testing.T) {
	t.Parallel()
	const thread = 2
	if !strings.HasPrefix(proctest.StatLine(thread), "2 (kthreadd) ") {
		t.Skip("this PID namespace is without threads of the kernel")
	}
	if carried, certain := carries(thread, proctest.RoleVariable, "echo",
		time.Time{}); carried || !certain {
		t.Errorf("it carries what nobody gave it: %t, for certain: %t", carried, certain)
	}
}

// A process that /proc hides from us, such as another user's with hidepid, causes no doubt.
func TestCarriesHidden(t *testing.T) {
	t.Parallel()
	nobody := proctest.AsNobody(t)
	if !inside(t, "-mp --mount-proc") {
		return
	}
	if err := unix.Mount("proc", "/proc", "proc", 0, "hidepid=1"); err != nil {
		t.Skip("mount proc with hidepid: ", err)
	}

	c := proctest.Start(t, "echo").MustBeReady(t)
	if v := proctest.StartAs(t, nobody, "carries",
		strconv.Itoa(c.Process.Pid)); v.First != "false, for certain: true" {
		t.Errorf("it carries what it was given: %s", v.First)
	}
}

// carriesRole asks once whether the process in its arguments carries its role.
func carriesRole() string {
	pid, err := strconv.Atoi(os.Args[1])
	if err != nil {
		return err.Error()
	}
	carried, certain := carries(pid, proctest.RoleVariable, "echo", time.Time{})
	return fmt.Sprintf("%t, for certain: %t", carried, certain)
}
