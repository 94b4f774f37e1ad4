package queue

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dpl-project/dpl/protocol/wire"
)

// A Policy says how the tasks of a queue are tried (spec §33.1).
type Policy struct {
	Slots            int64           // claims at a time; 0: no limit
	MaxAttempts      int64           // failures after which a task is dead; at least 1
	Backoff          []time.Duration // before the next attempt, by the number of those before
	OnDeadDependency DependencyPolicy
	HaltOn           []HaltRule
	Depth            int64         // tasks that have not ended; 0: no limit
	AgeAfter         time.Duration // waiting this long counts as one priority; 0: it does not count
	RememberFor      time.Duration // how long an id of an ended task is known, at least
	Unknown          []wire.Member
}

// A DependencyPolicy says what becomes of a task that waits for one that is dead, cancelled or
// expired.
type DependencyPolicy string

const (
	DependencyWait   DependencyPolicy = "wait"
	DependencyCancel DependencyPolicy = "cancel" // as soon as that cannot be done any more
)

// Valid reports whether p is one of the two.
func (p DependencyPolicy) Valid() bool { return p == DependencyWait || p == DependencyCancel }

// triesPerFailure times MaxAttempts tries are dead, too, so that a task that always comes back
// uncharged ends.
const triesPerFailure = 5

// defaultPolicy returns the policy of a queue that nobody has given one.
func defaultPolicy(id string) Policy {
	p := Policy{
		MaxAttempts: 4, Backoff: []time.Duration{0, 30 * time.Second, 5 * time.Minute},
		OnDeadDependency: DependencyWait, HaltOn: []HaltRule{{Word: string(NotStarted)}},
		RememberFor: 7 * 24 * time.Hour,
	}
	if IsMailbox(id) || IsAskQueue(id) {
		p.HaltOn, p.Depth = nil, 1000
	}
	return p
}

// backoff returns how long to wait after that many attempts.
func (p Policy) backoff(attempts int64) time.Duration {
	if len(p.Backoff) == 0 || attempts < 1 {
		return 0
	}
	return p.Backoff[min(attempts, int64(len(p.Backoff)))-1]
}

// same reports whether p and other are equal.
func (p Policy) same(other Policy) bool {
	return p.Slots == other.Slots && p.MaxAttempts == other.MaxAttempts &&
		slices.Equal(p.Backoff, other.Backoff) && p.OnDeadDependency == other.OnDeadDependency &&
		slices.Equal(p.HaltOn, other.HaltOn) && p.Depth == other.Depth &&
		p.AgeAfter == other.AgeAfter && p.RememberFor == other.RememberFor &&
		slices.Equal(p.Unknown, other.Unknown)
}

// A HaltRule is a reason for which a queue halts itself: "notStarted", "timedOut", "blocked",
// "dead:N" or "failures:N", the last in a row.
type HaltRule struct {
	Word  string
	Count int64 // 0: it is a word alone
}

func (h HaltRule) String() string {
	if h.Count == 0 {
		return h.Word
	}
	return h.Word + ":" + strconv.FormatInt(h.Count, 10)
}

// ParseHaltRule returns the rule that text names. "dead" is "dead:1".
func ParseHaltRule(text string) (HaltRule, error) {
	word, number, counted := strings.Cut(text, ":")
	n, err := strconv.ParseInt(number, 10, 32)
	switch {
	case text == string(NotStarted) || text == string(TimedOut) || text == string(Asked):
		return HaltRule{Word: word}, nil
	case text == "dead":
		return HaltRule{"dead", 1}, nil
	case counted && err == nil && n > 0 && (word == "dead" || word == "failures") &&
		number == strconv.FormatInt(n, 10):
		return HaltRule{word, n}, nil
	}
	return HaltRule{}, fmt.Errorf("want notStarted, timedOut, blocked, dead:N or failures:N, "+
		"not %.40q", text)
}

func (q Queue) maxAttempts(t *Task) int64 {
	if t.MaxAttempts > 0 {
		return t.MaxAttempts
	}
	return q.Policy.MaxAttempts
}
