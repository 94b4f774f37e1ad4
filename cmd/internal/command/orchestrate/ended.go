package orchestrate

import (
	"fmt"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/protocol/group"
)

// An ended is SERVICE~START: a start that has ended, for which its keeper asks for a pass (spec
// §19.5).
type ended group.Prompt

// UnmarshalText sets e to text.
func (e *ended) UnmarshalText(text []byte) error {
	service, start, _ := strings.Cut(string(text), "~")
	var id cli.ID
	if id.UnmarshalText([]byte(service)) != nil || start == "" {
		return fmt.Errorf("want SERVICE~START, not %q", text)
	}
	*e = ended{Service: service, StartID: start}
	return nil
}
