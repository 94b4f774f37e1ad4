package explain

import (
	"fmt"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/show/model"
)

// Author says who made the edit.
func Author(r model.Record) string {
	var all []string
	if r.By.Participant != "" {
		all = append(all, r.By.Participant)
	}
	if r.User != "" {
		all = append(all, "user "+r.User)
	}
	if pid := r.By.Process.PID; pid != 0 {
		all = append(all, fmt.Sprintf("process %d", pid))
	}
	if len(all) == 0 {
		return "nobody known"
	}
	return strings.Join(all, ", ")
}
