package draw

import "time"

// How fast a picture is played.
const (
	beforeTyping = 250 * time.Millisecond
	perLetter    = 16 * time.Millisecond
	longestTyped = 600 * time.Millisecond
	beforeOutput = 150 * time.Millisecond
	atEnd        = 3 * time.Second
)

// A moment is when a line comes: typed from begin to end, or at once.
type moment struct{ begin, end time.Duration }

// A timeline says when each line of each slide comes, and when all is over.
type timeline struct {
	slides [][]moment
	starts []time.Duration
	length time.Duration
}

// schedule plans a picture. Lines that are printed come with the first of them.
func schedule(p Picture) (t timeline) {
	for _, slide := range p.Slides {
		t.starts = append(t.starts, t.length)
		var moments []moment
		for i, l := range slide {
			switch {
			case l.Typed:
				begin := t.length + beforeTyping
				t.length = begin + min(time.Duration(len(l.Cells))*perLetter, longestTyped)
				moments = append(moments, moment{begin, t.length})
			case slide[max(i-1, 0)].Typed:
				t.length += beforeOutput
				fallthrough
			default:
				moments = append(moments, moment{t.length, t.length})
			}

			t.length += l.Pause
		}

		t.slides = append(t.slides, moments)
	}

	t.length += atEnd
	return t
}

// Length returns how long one loop of a picture takes.
func (p Picture) Length() time.Duration { return schedule(p).length }
