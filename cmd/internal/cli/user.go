package cli

import (
	"os"
	"os/user"
	"strconv"
)

// UserName returns the name of the user of this process, or its number if it has none.
func UserName() string {
	if u, err := user.Current(); err == nil && u.Username != "" && CheckText(u.Username) == nil {
		return u.Username
	}
	return strconv.Itoa(os.Geteuid())
}
