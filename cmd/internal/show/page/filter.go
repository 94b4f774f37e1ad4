package page

import (
	"strings"
)

// A kind is a coarse state, by which lines and subjects are filtered.
type kind int

const (
	inTrouble kind = iota
	goingOn
	over
	kindCount
)

// kinds says which kinds there are in a part of the page.
type kinds [kindCount]bool

func kindsOf(one kind) (k kinds) {
	k[one] = true
	return k
}

func (k kinds) or(other kinds) kinds {
	for i := range k {
		k[i] = k[i] || other[i]
	}
	return k
}

// class returns the names of k for style.css.
func (k kinds) class() string {
	names := [kindCount]string{"t", "g", "o"}
	var all []string
	for i, is := range k {
		if is {
			all = append(all, names[i])
		}
	}
	return strings.Join(all, " ")
}

// kindOf returns the kind of what has these states and verdicts, and is over or not.
func kindOf(isOver bool, words ...string) kind {
	for _, word := range words {
		if mood(word) == "bad" {
			return inTrouble
		}
	}
	if isOver {
		return over
	}
	return goingOn
}

// A filter lets the reader choose a kind. It needs no script: style.css hides the others.
type filter struct {
	Name    string // of the inputs
	Choices []choice
}

// A choice is one of a filter's. All has no class.
type choice struct {
	Class, Text string
	Count       int
}

// filterOf returns a filter for parts of a page; counts says how many there are of each kind. It
// returns nil if there is nothing to choose.
func filterOf(name string, counts [kindCount]int) *filter {
	total, different := 0, 0
	for _, n := range counts {
		total += n
		if n > 0 {
			different++
		}
	}
	if different < 2 {
		return nil
	}

	f := &filter{Name: name, Choices: []choice{{"", "all", total}}}
	texts := [kindCount]string{"in trouble", "going on", "over"}
	for k, n := range counts {
		if n > 0 {
			class := "only-" + kindsOf(kind(k)).class()
			f.Choices = append(f.Choices, choice{class, texts[k], n})
		}
	}
	return f
}

// filterLines returns the filter of a tree, or nil if its lines are few.
func filterLines(name string, lines []line) *filter {
	const many = 12
	if len(lines) <= many {
		return nil
	}
	var counts [kindCount]int
	for _, l := range lines {
		counts[l.kind]++
	}
	return filterOf("filter-"+name, counts)
}
