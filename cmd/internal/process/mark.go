package process

import (
	"crypto/rand"
	"encoding/hex"
)

// StartVariable is the environment variable by which the processes of one start are known, also those that have left its
// session: ids that NewStartID made, separated by commas. A pass gives what it starts one id; dpl-run, whose command
// belongs also to whatever has started dpl-run, puts its own in front of those that it was given.
const StartVariable = "DPL_START"

// KeeperVariable is the environment variable of a keeper, of a start or of a job, and of no other
// process: the id of that (see StartVariable).
const KeeperVariable = "DPL_KEEPER"

// NewStartID returns 16 random hexadecimal digits.
func NewStartID() string {
	var random [8]byte
	rand.Read(random[:]) // it never fails
	return hex.EncodeToString(random[:])
}
