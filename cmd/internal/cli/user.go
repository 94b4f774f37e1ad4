package cli

import (
	"os"
	"os/user"
	"strconv"
	"time"
)

// QuestionTimeout is how long a question is open for which nobody waits in vain.
const QuestionTimeout = 24 * time.Hour

// UserName returns the name of the user of this process, or its number if it has none.
func UserName() string {
	if u, err := user.Current(); err == nil && u.Username != "" && CheckText(u.Username) == nil {
		return u.Username
	}
	return strconv.Itoa(os.Geteuid())
}
