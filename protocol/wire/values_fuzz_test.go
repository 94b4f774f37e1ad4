package wire

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"
)

// timeShape matches what spec §1.2 accepts, and also days that do not exist.
var timeShape = regexp.MustCompile(`^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$`)

// FuzzParseTime checks that a time is accepted if and only if it has the shape, package time
// accepts it and it is not before 1970; that it is the same instant; and that it is encoded and
// parsed again to the same.
func FuzzParseTime(f *testing.F) {
	for _, s := range []string{
		timeExample, "2026-01-20T10:30:00Z", "2026-01-20T10:30:00.1234567890123+05:45",
		"2024-02-29T23:59:59.999999999-23:59",
		"0001-01-01T00:00:00Z", "1969-12-31T23:59:59.999Z", "1970-01-01T00:00:00Z",
		"1970-01-01T00:00:00+00:01", "9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59-00:01",
		"0000-01-01T00:00:00+00:01",
		"2026-02-29T00:00:00Z", "2026-01-20T24:00:00Z", "2026-01-20T10:30:60Z",
		"2026-01-20T10:30:00", "2026-01-20 10:30:00Z",
		"2026-01-20t10:30:00z", "2026-01-20T10:30:00,5Z", "2026-01-20T10:30:00.Z",
		"2026-01-20T1:30:00Z", "2026-01-20T10:30:00+24:00",
		"+026-01-20T10:30:00Z", "2026-00-00T00:00:00Z", "", "2026-01-20T10:30:00",
		"2026-01-20T10:30:00Z ", "20260120T103000Z",
	} {
		f.Add(s)
	}

	f.Fuzz(func(t *testing.T, s string) {
		got, err := ParseTime(s)
		reference, referenceErr := time.Parse(time.RFC3339, s)
		want := Moment(reference)
		strict := timeShape.MatchString(s) && referenceErr == nil && want.Unix() >= 0 &&
			want.Year() <= 9999
		if strict != (err == nil) {
			t.Fatalf("%q: %v; package time: %v, %v", s, err, want, referenceErr)
		}
		if err != nil {
			return
		}
		if !got.Equal(want) || got.Location() != time.UTC {
			t.Errorf("%q: got %v, want %v", s, got, want)
		}

		written := got.Format(timeLayout)
		if again, err := ParseTime(written); err != nil || !again.Equal(got) ||
			again.Format(timeLayout) != written {
			t.Errorf("%q is written %q, which is %v, %v", s, written, again, err)
		}
	})
}

// idShape is that of spec §1.1.
var idShape = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$`)

// FuzzCheckID holds CheckID against the words of the spec.
func FuzzCheckID(f *testing.F) {
	for _, s := range []string{
		"a", "Z9", "0._:-", "build-42", "a.b.c", "a..b", "..", ".a", "-a", "a/b", "a~2", "a b",
		"a\x00", "é", "a\n", "",
		strings.Repeat("a", 128), strings.Repeat("a", 129), "a.", "a..", "a:b", "a\\b", "%2e%2e",
	} {
		f.Add(s)
	}

	f.Fuzz(func(t *testing.T, s string) {
		err := CheckID(s)
		want := idShape.MatchString(s) && !strings.HasSuffix(s, "\n") && !strings.Contains(s, "..")
		if want != (err == nil) || err != nil && !errors.Is(err, ErrBadID) {
			t.Errorf("%q: %v", s, err)
		}
	})
}
