package cli

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// A file of many members that lie deep does not become many times as long when it is printed.
func TestJSONTextOfLargeFile(t *testing.T) {
	text := func(elements int) string {
		inner := strings.TrimSuffix(strings.Repeat("1,", elements), ",")
		return strings.Repeat("[", 60) + inner + strings.Repeat("]", 60)
	}

	for elements, most := range map[int]int{1 << 20: 2<<20 + 200, 10: 10000} {
		file := text(elements)
		got := (&Env{}).JSONText(Object{{"operation", jsontext.Value(file)}})
		if len(got) > most {
			t.Errorf("%d bytes have become %d", len(file), len(got))
		}
	}
}
