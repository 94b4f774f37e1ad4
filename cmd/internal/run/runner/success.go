package runner

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/process"
)

// Success is the set of exit statuses that count as Success; signal n is 128+n.
type Success [256]bool

// UnmarshalText parses a list of statuses, ranges and signals separated by commas, as in "0,1",
// "2-5" and "SIGPIPE".
func (ok *Success) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		return errors.New("it is empty")
	}

	*ok = Success{}
	for item := range strings.SplitSeq(string(text), ",") {
		first, last, err := parseStatuses(item)
		if err != nil {
			return err
		}
		for status := first; status <= last; status++ {
			ok[status] = true
		}
	}

	return nil
}

// String returns the list of statuses that UnmarshalText makes ok of, or "" if there are none.
func (ok Success) String() string {
	var all []string
	for status, is := range ok {
		if is {
			all = append(all, strconv.Itoa(status))
		}
	}
	return strings.Join(all, ",")
}

// parseStatuses returns the first and the last status of one item of a list.
func parseStatuses(item string) (first, last int, err error) {
	low, high, ranged := strings.Cut(item, "-")
	if !ranged {
		high = low
	}

	first, lowErr := parseStatus(low)
	last, highErr := parseStatus(high)
	if lowErr == nil && highErr == nil && first <= last {
		return first, last, nil
	}

	if sig, unknown := process.ParseSignal(item); unknown == nil {
		return 128 + int(sig), 128 + int(sig), nil
	}
	return 0, 0, fmt.Errorf("%q: want exit statuses from 0 to 255, ranges like 2-5, or signals "+
		"like SIGPIPE", item)
}

func parseStatus(text string) (int, error) {
	status, err := strconv.ParseUint(text, 10, 8)
	return int(status), err
}
