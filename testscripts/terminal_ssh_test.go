//go:build linux

package testscripts

import (
	"fmt"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/testscripts/strict"
)

// TestTerminalInboxSSH answers over ssh, with the server of the machine: a question is drawn for the
// terminal on the other end, and what was typed too early is no yes.
func TestTerminalInboxSSH(t *testing.T) {
	t.Parallel()
	if os.Getenv("DPL_SOAK") == "" {
		t.Skip("needs DPL_SOAK=1, and the server of OpenSSH")
	}
	const server = "/usr/sbin/sshd"
	if _, err := os.Stat(server); err != nil {
		strict.Skip(t, "needs "+server)
	}
	if os.Geteuid() == 0 { // which the server wants, and which a start of the machine makes
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			t.Fatal(err)
		}
	}
	port, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, number, _ := net.SplitHostPort(port.Addr().String())
	port.Close()

	y := sitAt(t, fmt.Sprintf(`port=%s; PATH=$PATH:/usr/bin
for key in host user; do /usr/bin/ssh-keygen -q -t ed25519 -N '' -f $key; done
cat >config <<END
Port $port
ListenAddress 127.0.0.1
HostKey $PWD/host
AuthorizedKeysFile $PWD/user.pub
PidFile none
StrictModes no
UsePAM no
END
(%s -D -f $PWD/config 2>server & echo $! >pid; wait; exit $?) &
printf '{"tool": "Bash", "command": "%%s"}' "$(printf '%%100s' tail)" >in.json
{ dpl-ask 'first?' --input in.json --timeout 10m 2>err1; echo $? >status1; } & a=$!
open 1
{ dpl-ask 'second?' --timeout 10m 2>err2; echo $? >status2; } & b=$!
open 2
until /usr/bin/ssh -tt -q -F none -p $port -i user -o IdentitiesOnly=yes -o UserKnownHostsFile=/dev/null \
	-o StrictHostKeyChecking=no localhost "PATH='$PATH' DPL_LEDGER='$DPL_LEDGER' LC_ALL=C.UTF-8 dpl-answer"; do sleep 0.1; done
wait $a $b; echo "statuses $(cat status1 status2 | tr '\n' ' ')"
kill $(cat pid)`, number, server))

	y.hear(t, "│ first?")
	before, _ := y.asked(t, "y")
	ends(t, before, "After this one: 1 more.", "q[a-z2-7]{10}: permission, .*", "│ by .*", `│ first\?`, "tool:", "│ Bash",
		"command:", "│ *", "┆ {19}tail")
	y.press(t, "y\ny\ny\n")
	y.hear(t, "│ second?")
	_, digit := y.asked(t, "y")
	y.enter(t, "y")
	y.hear(t, "Type y"+digit)
	_, digit = y.asked(t, "y")
	y.enter(t, "y"+digit)
	y.hear(t, "no more questions")
	y.hear(t, "statuses 0 0 ")
	if got := y.end(t); strings.Contains(got, "SIG") {
		t.Errorf("it ended with %s", got)
	}
}
