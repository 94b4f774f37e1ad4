package cli

import "strings"

// Wrap breaks text into lines of at most width characters, each after indent.
func Wrap(text string, width int, indent string) string {
	var out strings.Builder
	length := 0
	for word := range strings.FieldsSeq(text) {
		switch {
		case length == 0:
			out.WriteString(indent)
		case length+1+len(word) > width:
			out.WriteString("\n" + indent)
			length = 0
		default:
			out.WriteByte(' ')
			length++
		}

		out.WriteString(word)
		length += len(word)
	}

	out.WriteByte('\n')
	return out.String()
}
