package cli

import (
	"cmp"
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/wire"
)

// The types of flags. Each rejects invalid values, including "", which an unset shell variable
// leaves behind. Only a Text may be empty.
type (
	ID     string              // an id of the protocol
	Word   string              // stored in a file or looked up, so UTF-8
	Path   string              // of a file, any bytes
	Text   string              // for people, UTF-8
	PID    int                 // the number of a process
	Count  int                 // 0 or more
	Size   int64               // a number of bytes
	Span   time.Duration       // at least a millisecond
	Pause  time.Duration       // a time span that may be 0
	Signal syscall.Signal      // by name or number
	Moment struct{ time.Time } // as in the files
	Amount policy.Amount       // NAME=N
)

// UnmarshalText sets id to text, or returns wire.ErrBadID.
func (id *ID) UnmarshalText(text []byte) error {
	*id = ID(text)
	return wire.CheckID(string(text))
}

// Distinct returns ids without duplicates.
func Distinct(ids []ID) []string {
	all := []string{}
	for _, id := range ids {
		if !slices.Contains(all, string(id)) {
			all = append(all, string(id))
		}
	}
	return all
}

// UnmarshalText sets w to text.
func (w *Word) UnmarshalText(text []byte) error {
	*w = Word(text)
	return checkWord(string(text))
}

// UnmarshalText sets p to text.
func (p *Path) UnmarshalText(text []byte) error {
	*p = Path(text)
	return notEmpty(string(text))
}

// UnmarshalText sets t to text.
func (t *Text) UnmarshalText(text []byte) error {
	*t = Text(text)
	return CheckText(string(text))
}

// UnmarshalText sets p to the number in text.
func (p *PID) UnmarshalText(text []byte) error {
	n, err := strconv.ParseInt(string(text), 10, 32)
	if err != nil || n < 1 {
		return fmt.Errorf("want the number of a process, not %q", text)
	}
	*p = PID(n)
	return nil
}

// UnmarshalText sets c to the number in text.
func (c *Count) UnmarshalText(text []byte) error {
	n, err := strconv.ParseInt(string(text), 10, 32)
	if err != nil || n < 0 {
		return fmt.Errorf("want a number from 0 to %d, not %q", math.MaxInt32, text)
	}
	*c = Count(n)
	return nil
}

// UnmarshalText parses a number, which may be followed by K, M or G for powers of 1024.
func (s *Size) UnmarshalText(text []byte) error {
	n, err := parseSize(string(text))
	*s = Size(n)
	return err
}

// UnmarshalText parses text with ParseDuration.
func (s *Span) UnmarshalText(text []byte) error {
	d, err := ParseDuration(string(text), time.Millisecond)
	*s = Span(d)
	return err
}

// UnmarshalText parses text with ParseDuration.
func (p *Pause) UnmarshalText(text []byte) error {
	d, err := ParseDuration(string(text), 0)
	*p = Pause(d)
	return err
}

// UnmarshalText parses the name or number of a signal.
func (s *Signal) UnmarshalText(text []byte) error {
	signal, err := process.ParseSignal(string(text))
	*s = Signal(signal)
	return err
}

// UnmarshalText sets m to the time in text.
func (m *Moment) UnmarshalText(text []byte) (err error) {
	m.Time, err = wire.ParseTime(string(text))
	return err
}

// UnmarshalText sets a to NAME=N.
func (a *Amount) UnmarshalText(text []byte) error {
	name, number, _ := strings.Cut(string(text), "=")
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || n > policy.MostSpent {
		return fmt.Errorf("want NAME=N, like tokens=600, with N from 0 to 2^62, not %q", text)
	}
	*a = Amount{Name: name, N: n}
	return wire.CheckID(name)
}

// Amounts returns all as amounts of a group.
func Amounts(all []Amount) (amounts []policy.Amount) {
	for _, a := range all {
		amounts = append(amounts, policy.Amount(a))
	}
	return amounts
}

// set stores word in field, or appends it to a list there. If enum is not "", word must be one of
// its comma-separated words.
func set(field reflect.Value, word, enum string) error {
	if field.Kind() == reflect.Pointer {
		field.Set(reflect.New(field.Type().Elem()))
		return set(field.Elem(), word, enum)
	}

	if field.Kind() == reflect.Slice && field.Type().Name() == "" {
		element := reflect.New(field.Type().Elem()).Elem()
		err := set(element, word, enum)
		field.Set(reflect.Append(field, element))
		return err
	}

	switch value := field.Addr().Interface().(type) {
	case *Word: // the last case would do, but makes a table of methods at run time
		return value.UnmarshalText([]byte(word))
	case *Path:
		return value.UnmarshalText([]byte(word))
	case *ID:
		return value.UnmarshalText([]byte(word))
	case *Pause:
		return value.UnmarshalText([]byte(word))
	case encoding.TextUnmarshaler:
		return value.UnmarshalText([]byte(word))
	}

	if err := notEmpty(word); err != nil {
		return err
	}
	for allowed := range strings.SplitSeq(enum, ",") {
		if word == allowed {
			field.SetString(word)
			return nil
		}
	}
	return fmt.Errorf("want %s, not %q", alternatives(words(enum)), word)
}

// setArguments stores the arguments of a command in field. The first names a file or program, so it
// must not be empty. If all are names of files, none may be.
func setArguments(field reflect.Value, arguments []string) error {
	if len(arguments) > 0 && arguments[0] == "" {
		return errors.New("it is empty")
	}

	if all, ok := field.Addr().Interface().(*[]string); ok {
		*all = arguments
		return nil
	}

	for _, argument := range arguments {
		if err := set(field, argument, ""); err != nil {
			return err
		}
	}

	return nil
}

// words returns the words of an enum tag. The tag of an optional flag also has an empty word, which
// kong needs.
func words(enum string) []string {
	return slices.DeleteFunc(strings.Split(enum, ","), func(word string) bool { return word == "" })
}

// alternatives returns "a, b or c".
func alternatives(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

func checkWord(s string) error { return cmp.Or(notEmpty(s), CheckText(s)) }

func notEmpty(s string) error {
	if s == "" {
		return errors.New("it is empty")
	}
	return nil
}

// CheckText returns an error if s cannot be stored in a file.
func CheckText(s string) error {
	if !utf8.ValidString(s) {
		return errors.New("it is not UTF-8, and so cannot be kept in a JSON file")
	}
	return nil
}

// parseSize returns the number of bytes in s.
func parseSize(s string) (int64, error) {
	number, unit := s, int64(1)
	if i := len(s) - 1; i >= 0 {
		if power := strings.IndexByte("KMG", s[i]&^0x20); power >= 0 {
			number, unit = s[:i], 1<<(10*(power+1))
		}
	}

	n, err := strconv.ParseUint(number, 10, 63)
	if err != nil || int64(n) > math.MaxInt64/unit {
		return 0, errors.New("want a number of bytes, or of 1024 bytes and so on, like 512K, 10M " +
			"or 1G")
	}
	return int64(n) * unit, nil
}
