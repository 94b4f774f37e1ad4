package logs

import "github.com/dpl-project/dpl/fileops/disk"

// KeptHead is how much of the beginning of the log of an attempt stays, whatever its limit.
const KeptHead = 1 << 20

// LeastLimit is the smallest limit for the log of an attempt: as much of its end as of its beginning.
const LeastLimit = 2 * KeptHead

// Excess returns which part of the log of an attempt is cut when it has this size: whole blocks
// after KeptHead, so that not much more than limit is left. It is empty if from is to. A limit of 0
// is none.
func Excess(size, limit int64) (from, to int64) {
	if limit == 0 || size <= limit {
		return KeptHead, KeptHead
	}
	return KeptHead, KeptHead + (size-limit)/disk.CutUnit*disk.CutUnit
}
