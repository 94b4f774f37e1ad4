package policy

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// An ExitStatus changes the usual classes of ends (supervision.md §20). Each word is an exit status
// such as "75", a range such as "100-109", a signal such as "SIGSEGV" or "SIG7", or "unknown". No
// end is in two classes.
type ExitStatus struct {
	Success, Tempfail, Failure, Persistent, Terminal []string

	Unknown []wire.Member
}

// List returns the words of c, to read or set them, or nil if c has none.
func (x *ExitStatus) List(c Class) *[]string {
	switch c {
	case Success:
		return &x.Success
	case Tempfail:
		return &x.Tempfail
	case Failure:
		return &x.Failure
	case Persistent:
		return &x.Persistent
	case Terminal:
		return &x.Terminal
	}
	return nil
}

// exitClasses are the classes of an ExitStatus, in the order in which they are written.
func exitClasses() [5]Class { return [5]Class{Success, Tempfail, Failure, Persistent, Terminal} }

// Equal reports whether x and y have the same text.
func (x ExitStatus) Equal(y ExitStatus) bool {
	for _, c := range exitClasses() {
		if !slices.Equal(*x.List(c), *y.List(c)) {
			return false
		}
	}
	return slices.Equal(x.Unknown, y.Unknown)
}

// ErrExitStatus is returned for a word that names no end of a process (§20).
var ErrExitStatus = errors.New("want a status such as 75, or 100-109, SIGSEGV, SIG7 or unknown")

// Classify returns the class of e: by its reason first, then by lists, and else as usual. budget is
// what follows when the service has spent more than its budget. An end that was asked for has none.
func (e *Exit) Classify(lists ExitStatus, budget BudgetAction) Class {
	switch e.Reason {
	case ReasonStopped, ReasonSibling:
		return ""
	case string(observe.Rebooted):
		return HostLost
	}
	if e.FinishStatus == finishTerminal {
		return Terminal
	}

	switch e.Reason {
	case StartFailed:
		if e.Class == Tempfail || e.Class == Terminal { // the one that made the start knows
			return e.Class
		}
		return Failure
	case ReasonEnded:
		if e.Detail == string(EndAutoShutdown) || e.Detail == string(EndRequested) {
			return Success
		}
		return Failure
	case ReasonBudget:
		if budget == BudgetRestart {
			return Failure
		}
		return Terminal
	case ReasonPreflight:
		if e.Error != "" || e.Code == CodeExited && e.Status == exTempfail { // or it timed out
			return Tempfail
		}
		return Terminal
	case ReasonViolation:
		return Terminal
	case string(observe.Exited):
	default:
		return Failure
	}

	if c := lists.listed(endOf(e)); c != "" {
		return c
	}
	if c := usual(endOf(e)); c != Success || e.Error == "" {
		return c
	}
	return Failure // the program that waited for it stopped it, or could not start it
}

// exTempfail is the exit status EX_TEMPFAIL of sysexits.h.
const exTempfail = 75

// usual returns the class of an end that is not listed.
func usual(end int) Class {
	switch end {
	case 0, signalled + 1, signalled + 2, signalled + 13, signalled + 15: // HUP, INT, PIPE, TERM
		return Success
	case exTempfail:
		return Tempfail
	case 64, 77, 78: // EX_USAGE, EX_NOPERM, EX_CONFIG
		return Terminal
	}
	return Failure
}

// listed returns the class in which end is listed, or "".
func (x ExitStatus) listed(end int) Class {
	for _, c := range exitClasses() {
		for _, word := range *x.List(c) {
			if ends, err := parseEnds(word); err == nil && ends.first <= end && end <= ends.last {
				return c
			}
		}
	}
	return ""
}

// Twice reports whether an end is in two classes of x.
func (x ExitStatus) Twice() bool {
	var of [unknownEnd + 1]Class
	for _, c := range exitClasses() {
		for _, word := range *x.List(c) {
			named, _ := parseEnds(word)
			for end := named.first; end <= named.last; end++ {
				if of[end] != "" && of[end] != c {
					return true
				}
				of[end] = c
			}
		}
	}
	return false
}

// Ends are counted in one row: exit statuses, signals from signalled on, and the unknown end.
const (
	lastStatus = 255
	signalled  = lastStatus + 1
	lastSignal = signalled + 64
	unknownEnd = lastSignal + 1
	unlistable = unknownEnd + 1 // by no word
)

// endOf returns the number of e in that row.
func endOf(e *Exit) int {
	switch killed := e.Code == CodeKilled || e.Code == CodeDumped; {
	case e.Code == "":
		return unknownEnd
	case killed && 0 < e.Status && e.Status <= lastSignal-signalled:
		return signalled + e.Status
	case !killed && e.Status <= lastStatus:
		return e.Status
	}
	return unlistable
}

// ends are those from first to last.
type ends struct{ first, last int }

// parseEnds returns the ends that word names.
func parseEnds(word string) (ends, error) {
	if word == "unknown" {
		return ends{unknownEnd, unknownEnd}, nil
	}
	if name, signal := strings.CutPrefix(word, "SIG"); signal {
		n := SignalNumber(name)
		if n == 0 {
			return ends{}, ErrExitStatus
		}
		return ends{signalled + n, signalled + n}, nil
	}

	from, to, isRange := strings.Cut(word, "-")
	first, err := number(from, lastStatus)
	if err != nil || !isRange {
		return ends{first, first}, err
	}

	last, err := number(to, lastStatus)
	if err != nil || last < first {
		return ends{}, ErrExitStatus
	}
	return ends{first, last}, nil
}

// CheckExitStatus returns ErrExitStatus if word names no end.
func CheckExitStatus(word string) error {
	_, err := parseEnds(word)
	return err
}

// number returns the number in text, which has no leading zero and is at most the given one.
func number(text string, most int) (int, error) {
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || int(n) > most || strconv.FormatUint(n, 10) != text {
		return 0, ErrExitStatus
	}
	return int(n), nil
}

// signalNames are the names of signals that have the same number on all systems, by number. Others
// are not known, because another host may judge the end.
func signalNames() []string {
	return []string{"", "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "", "FPE", "KILL", "", "SEGV",
		"", "PIPE", "ALRM", "TERM"}
}

// SignalWord returns the word of an exitStatus for the signal n: SIGSEGV, or SIG7.
func SignalWord(n int) string {
	if names := signalNames(); 0 < n && n < len(names) && names[n] != "" {
		return "SIG" + names[n]
	}
	return "SIG" + strconv.Itoa(n)
}

// SignalNumber returns the number of the signal called SIGname, or 0.
func SignalNumber(name string) int {
	if n := slices.Index(signalNames(), name); n > 0 {
		return n
	}

	n, _ := number(name, lastSignal-signalled)
	return n
}

// Member is the member exitStatus, which is not written if x is empty.
func (x *ExitStatus) Member(c *wire.Codec) {
	if c.At("exitStatus") {
		c.Object("exitStatus", func(c *wire.Codec) { c.Record(&x.Unknown, x.Members) },
			wire.If(!x.Equal(ExitStatus{})))
	}
}

// Members has a list for each class. A single status is written as a number.
func (x *ExitStatus) Members(c *wire.Codec) {
	for _, class := range exitClasses() {
		list := x.List(class)
		c.Own(string(class), func(r *wire.Reader) {
			r.Array(func() { *list = append(*list, readEnds(r)) })
		}, func(w *wire.Writer) { w.Words(string(class), *list) }, wire.If(len(*list) > 0))
	}
}

// readEnds reads a word of an ExitStatus. A single status may be a number.
func readEnds(r *wire.Reader) string {
	read := r.Value
	if r.AtString() {
		read = r.String
	}

	word := read()
	if CheckExitStatus(word) != nil {
		r.Refuse("%v", ErrExitStatus)
	}
	return word
}
