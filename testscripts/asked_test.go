//go:build unix

package testscripts

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/dpl-project/dpl/testscripts/poll"
)

// asked waits until a question is open whose text has a word in it, and sets a variable to its id:
//
//	asked ID deploy [--to ada]
func asked(ts *testscript.TestScript, args []string) error {
	if len(args) < 2 {
		return errUsage
	}
	last := ""
	if poll.Within(poll.Patience, func() bool {
		if err := ts.Exec("dpl-answer", append([]string{"--json"}, args[2:]...)...); err != nil {
			last = err.Error()
			return false
		}
		last = ts.ReadFile("stdout")
		var open struct {
			Questions []struct{ QuestionID, Text string }
		}
		if json.Unmarshal([]byte(last), &open) != nil {
			return false
		}
		for _, q := range open.Questions {
			if strings.Contains(q.Text, args[1]) {
				ts.Setenv(args[0], q.QuestionID)
				return true
			}
		}
		return false
	}) {
		return nil
	}
	return fmt.Errorf("no question with %q is open: %s", args[1], last)
}
