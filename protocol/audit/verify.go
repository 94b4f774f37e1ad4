package audit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dpl-project/dpl/protocol/wire"
)

// How is how a line is broken. Two ways have the name of a verb: a line Unaudited or Restored says
// that the object was changed without one, and no known head is of that line or of a later one.
type How string

const (
	Changed How = "changed" // it is not what was written
	Missing How = "missing" // it is not there
	Forked  How = "forked"  // there is another one with its number, or it is not in its place
	Torn    How = "torn"    // it has no end

	// Unsigned: the line has a yes without a signature that counts (spec §47.5).
	Unsigned How = "unsigned"

	// Unnoted: the text of its note is missing, or is not what was noted.
	Unnoted How = "unnoted"
)

// A Finding is something that is wrong with a chain.
type Finding struct {
	Seq  int64 // of the line; of those that are missing, the first
	How  How
	Text string
}

func (f Finding) String() string { return fmt.Sprintf("line %d is %s: %s", f.Seq, f.How, f.Text) }

// A Verifier reads the lines of one chain, in the order in which they are in its log, and then the
// object's file. The zero Verifier with a Shape has read nothing.
type Verifier struct {
	State State
	Known []string   // heads kept elsewhere: each must be the hash of a line
	Each  func(Line) // gets each good line; nil: nobody does

	Findings []Finding // at most mostFindings
	More     int64     // how many others there are
	Lines    int64     // how many good ones
	First    int64     // the number of the first one
	Marks    []Line    // the lines that say that the record began, or was not continuous
	Moved    bool      // the parts before the first line are elsewhere, which is no finding

	first    Line            // the first line, unless it is line 1
	last     int64           // the number of the last line
	head     string          // its hash; "": not known
	badLinks int             // how many lines in a row do not name the hash of the one before
	noFit    bool            // a patch did not fit: the state is of no use
	found    map[string]bool // which of Known are hashes of lines
	accepted int64           // the number of the last of these lines
	without  []Line          // the Marks that say that the object was changed without a line
	tail     []Line          // the last ones
	torn     string          // what follows the last newline
}

// Line reads the next line. err is that of Parse.
func (v *Verifier) Line(l Line, err error) {
	next := v.last + 1
	follows := v.head != "" && l.Prev == v.head

	switch {
	case err != nil:
		v.find(next, Changed, "it is not a line: "+err.Error())
		v.settleLinks(false)
		v.last, v.head = next, ""
		return
	case v.Lines == 0 && v.last == 0:
		v.begin(l)
	case l.Seq <= v.last:
		v.find(l.Seq, Forked, v.again(l))
		return
	case l.Seq != next && follows:
		v.find(next, Changed, fmt.Sprintf("it says that its number is %d", l.Seq))
		v.settleLinks(false)
		v.last, v.head = next, ""
		return
	case l.Seq != next:
		v.find(next, Missing, fmt.Sprintf("line %d comes after line %d", l.Seq, v.last))
		v.settleLinks(false)
	case v.head != "" && !follows:
		v.badLink()
	default:
		v.settleLinks(true)
	}
	v.take(l)
}

// begin reads the first line.
func (v *Verifier) begin(l Line) {
	v.First = l.Seq
	switch {
	case l.Seq > 1 && l.Prev == "":
		v.find(1, Changed, fmt.Sprintf("it says that its number is %d", l.Seq))
	case l.Seq == 1 && l.Prev != "":
		v.find(1, Changed, "it names a line before it")
	case l.Seq > 1:
		v.first = Line{Seq: l.Seq, Entry: Entry{Verb: l.Verb}}
	}
}

// endBegin says whether it is right that the log begins with a line that is not the first one: the
// parts before it were sealed, and may be elsewhere. The line that begins a part has the whole
// object.
func (v *Verifier) endBegin(sealed Sealing) {
	f := v.first
	switch f.Verb {
	case Began, Restored, Unaudited, Sealed:
		v.Moved = f.Seq > 1 && sealed.Part > 0
	}
	if f.Seq > 1 && !v.Moved {
		v.Findings = slices.Insert(v.Findings, 0, Finding{1, Missing, fmt.Sprintf("the log begins with "+
			"line %d: restore the lines before it, or the part that has them", f.Seq)})
	}
}

// take makes l the last line.
func (v *Verifier) take(l Line) {
	v.last, v.head = l.Seq, l.Hash
	v.Lines++
	if slices.Contains(v.Known, l.Hash) {
		v.accept(l)
	}
	if v.Each != nil {
		v.Each(l)
	}
	v.mark(l)
	if v.tail = append(v.tail, l); len(v.tail) > 4*MostPending {
		v.tail = slices.Clone(v.tail[2*MostPending:])
	}
	if len(l.Patch) > 0 && l.Patch[0].Path == "" {
		v.whole(l)
		v.noFit = false
	}
	if path, fits := v.State.Replay(l); !fits && !v.noFit {
		if v.noFit = true; v.badLinks == 0 {
			v.find(l.Seq, Changed, fmt.Sprintf("%s was not what it says before", path))
		}
	}
}

// whole compares the object that l has with what the lines before say, if an edit sealed the log:
// it has changed nothing, and without this the next lines would be compared with what it has found.
func (v *Verifier) whole(l Line) {
	if l.Verb != Sealed {
		return
	}
	if paths := v.differ(l); len(paths) > 0 {
		v.find(l.Seq, Changed, fmt.Sprintf("it has another %s than the lines before", paths[0]))
	}
}

// differ returns the paths at which the object that l has is not what the lines before say, if they
// do.
func (v *Verifier) differ(l Line) (paths []string) {
	if !v.State.Known || v.noFit || v.badLinks > 0 {
		return nil
	}
	v.State.SetRevision(l.Revision)
	return v.State.Differ(l.Patch[0].After)
}

// accept notes that l has a known hash.
func (v *Verifier) accept(l Line) {
	if v.found == nil {
		v.found = make(map[string]bool)
	}
	v.found[l.Hash], v.accepted = true, l.Seq
}

// mark keeps l, the next line, if it is one for Marks. While the record is off no edit has a line.
func (v *Verifier) mark(l Line) {
	without := false
	switch l.Verb {
	case Unaudited:
		if len(v.tail) > 0 && v.tail[len(v.tail)-1].Verb == Ended {
			return
		}
		without = true
	case Restored: // an edit that was killed may leave a line, which has changed nothing
		known := v.State.Known && !v.noFit && v.badLinks == 0
		without = !known || len(l.Patch) == 0 || len(v.differ(l)) > 0
	case Began, Ended:
	default:
		return
	}
	l = Line{Seq: l.Seq, Hash: l.Hash, Entry: Entry{At: l.At, Verb: l.Verb, Revision: l.Revision}}
	v.Marks = append(v.Marks, l)
	if without {
		v.without = append(v.without, l)
	}
}

// endMarks reports the changes without a line that nobody has accepted by keeping a later head.
func (v *Verifier) endMarks() {
	for _, l := range v.without {
		if l.Seq <= v.accepted {
			continue
		}
		what := "the object was edited without a line"
		if l.Verb == Restored {
			what = "the file was set back, or its record was lost"
		}
		v.Add(Finding{l.Seq, How(l.Verb), fmt.Sprintf("before %s %s; this line has the object as the "+
			"next edit found it: if that is right, keep a head from here on, such as --known %s",
			wire.FormatTime(l.At), what, l.Hash)})
	}
}

func (v *Verifier) again(l Line) string {
	for _, before := range v.tail {
		if before.Seq == l.Seq && before.Hash == l.Hash {
			return fmt.Sprintf("it is there again after line %d", v.last)
		}
	}
	return fmt.Sprintf("another one is there after line %d", v.last)
}

// badLink notes that the next line does not name the hash of the last one. If that is so for one
// line alone, the one before it is changed; of several in a row, all but the last are.
func (v *Verifier) badLink() {
	if v.badLinks++; v.badLinks > 1 {
		v.find(v.last, Changed, "the next line has another hash for it")
	}
}

// settleLinks ends a row of bad links. If it does not end with a good one, nothing is known about
// the last line.
func (v *Verifier) settleLinks(good bool) {
	if v.badLinks == 1 && good {
		v.find(v.last-1, Changed, fmt.Sprintf("line %d has another hash for it", v.last))
	} else if v.badLinks == 1 {
		v.find(v.last, Changed, "it does not name the hash of the line before")
	}
	v.badLinks = 0
}

func (v *Verifier) find(seq int64, how How, text string) {
	if n := len(v.Findings); n > 0 && v.Findings[n-1].Seq == seq && v.Findings[n-1].How == how {
		return
	}
	v.Add(Finding{seq, how, text})
	v.noFit = true
}

// mostFindings is how many findings are kept: a file of other lines has one for each.
const mostFindings = 1000

// Add adds a finding.
func (v *Verifier) Add(f Finding) {
	if len(v.Findings) == mostFindings {
		v.More++
		return
	}
	v.Findings = append(v.Findings, f)
}

// Broken returns the findings about lines that are not as they were written. A reader to whom
// nobody gives known heads, which accept a change without a line, would report that one whenever it
// reads.
func (v *Verifier) Broken() []Finding {
	return slices.DeleteFunc(slices.Clone(v.Findings), func(f Finding) bool {
		return f.How == Unaudited || f.How == Restored
	})
}

// Rest reads what follows the last newline of the log. The log goes on if another part follows.
func (v *Verifier) Rest(text string) { v.torn += text }

// Lost reads that the object has no file.
func (v *Verifier) Lost(why string) {
	v.settleLinks(true)
	v.endBegin(Sealing{})
	v.endMarks()
	v.find(v.last+1, Missing, why)
}

// End reads the end of the chain c, which the object's file has, and the object in text, without
// the member audit. A kill or power cut may have torn the log where lines are still pending: the
// next edit mends that, so it is no finding.
func (v *Verifier) End(c Chain, text string) {
	for i, pending := range c.Pending {
		seq := c.First() + int64(i)
		v.pending(seq, pending)
	}

	v.tornEnd(c)
	v.endBegin(c.Sealed)
	switch {
	case v.last > c.Seq:
		v.settleLinks(true)
		v.find(c.Seq+1, Forked, fmt.Sprintf("the file of the object ends with line %d: it was set back",
			c.Seq))
	case v.last < c.Seq:
		v.settleLinks(true)
		v.find(v.last+1, Missing, fmt.Sprintf("the file of the object ends with line %d", c.Seq))
	case v.head != "" && v.head != c.Head:
		v.badLink()
		if v.badLinks == 1 {
			v.find(v.last, Changed, "the file of the object has another hash for it")
		}
	default:
		v.settleLinks(true)
		v.State.SetRevision(c.Revision)
		v.compare(c, text)
	}

	v.endMarks()
	for _, head := range v.Known {
		if !v.found[head] {
			v.find(max(1, v.last), Missing, "no line has the hash "+head+v.elsewhere())
		}
	}
}

// elsewhere says what to do if the line of a known head may be in a part that is elsewhere.
func (v *Verifier) elsewhere() string {
	if !v.Moved {
		return ""
	}
	return fmt.Sprintf(": if its line is in a sealed part before line %d, put that part back next to "+
		"the log", v.First)
}

// pending reads a line that the object's file has.
func (v *Verifier) pending(seq int64, text string) {
	l, err := Parse(text)
	switch {
	case err == nil && l.Seq != seq:
		err = fmt.Errorf("it says that its number is %d", l.Seq)
		fallthrough
	case err != nil:
		v.find(seq, Changed, "as it waits in the object's file: "+err.Error())
	case seq > v.last:
		if strings.HasPrefix(text, v.torn) || strings.Contains(v.torn, "\x00") {
			v.torn = ""
		}
		v.Line(l, nil)
	default:
		same := func(other Line) bool { return other.Seq == seq && other.Hash == l.Hash }
		if !slices.ContainsFunc(v.tail, same) && v.last-seq < int64(len(v.tail)) {
			v.find(seq, Changed, "it is not what waits in the object's file")
		}
	}
}

// tornEnd reports what follows the last newline of the log, unless a pending line explains it.
func (v *Verifier) tornEnd(c Chain) {
	if v.torn != "" {
		v.find(max(v.last, 1), Torn, fmt.Sprintf("%d bytes after the last newline", len(v.torn)))
	}
}

// compare compares the object with what the lines say, if they go on until now.
func (v *Verifier) compare(c Chain, text string) {
	if c.Off && len(v.tail) > 0 && v.tail[len(v.tail)-1].Verb != Ended {
		v.find(v.last, Changed, "the file of the object says that its record is off, and no line does")
		return
	}
	if !v.State.Known || v.noFit || c.Off {
		return
	}
	if paths := v.State.Differ(text); len(paths) > 0 {
		v.find(v.last, Changed, fmt.Sprintf("the file of the object has another %s than the lines say",
			paths[0]))
	}
}
