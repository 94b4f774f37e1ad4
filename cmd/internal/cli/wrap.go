package cli

// Wrap breaks text into lines of at most width characters, each after indent.
func Wrap(text string, width int, indent string) string { return wrap(text, width, indent) }
