package process

import (
	"crypto/rand"
	"encoding/hex"
)

// StartVariable is the environment variable that marks the processes of a start, also those that
// have left its session. It holds ids from NewStartID, separated by commas. A pass gives a service
// one id. Dpl-run puts the id of its command in front of those that it was given itself, since the
// command also belongs to the start that dpl-run is part of.
const StartVariable = "DPL_START"

// KeeperVariable is the environment variable of keepers, of a start or of a job, and of no other
// process. It holds the id that StartVariable has there.
const KeeperVariable = "DPL_KEEPER"

// NewStartID returns 16 random hexadecimal digits.
func NewStartID() string {
	var random [8]byte
	rand.Read(random[:]) // it never fails
	return hex.EncodeToString(random[:])
}
