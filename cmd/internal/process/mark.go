package process

import (
	"fmt"
	"math/rand/v2"
)

// StartVariable is the environment variable that marks the processes of a start, including those
// that have left its session. It has ids from NewStartID, separated by commas. A pass gives a
// service one id. Dpl-run puts the id of its command before the ids that it was given itself,
// because the command also belongs to the start that dpl-run is part of.
const StartVariable = "DPL_START"

// KeeperVariable is the environment variable that only keepers have, those of starts and of jobs.
// Its value is the id that the processes of the start or job have in StartVariable.
const KeeperVariable = "DPL_KEEPER"

// NewStartID returns 16 random hexadecimal digits. It is no secret, because whoever may signal a
// process may read its environment. So the generator of the runtime is enough, which the operating
// system seeds: crypto/rand costs every command a tenth of a null program by being linked.
func NewStartID() string {
	return fmt.Sprintf("%016x", rand.Uint64())
}
