package page

// A tree has lines, each before the lines below it.
type tree struct {
	Heading string
	Lines   []line
}

// A line is an item of a tree.
type line struct {
	ID      string
	Pills   []string // states and verdicts
	Facts   []fact
	Details []string // further text

	depth int
	Below string // the class of the list that begins below it, if any
	Ends  int    // the number of lists that end after it
}

// nested returns lines with the lists that begin and end at each. Deep levels are not indented
// further, because phones are narrow.
func nested(lines []line) []line {
	const deep = 12
	for i := range lines {
		l, next := &lines[i], 0
		if i+1 < len(lines) {
			next = lines[i+1].depth
		}

		switch {
		case next <= l.depth:
			l.Ends = l.depth - next
		case l.depth >= deep:
			l.Below = "flat"
		default:
			l.Below = "below"
		}
	}

	return lines
}
