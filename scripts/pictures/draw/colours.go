package draw

import "fmt"

// A scheme is the colours of a picture for one kind of screen.
type scheme struct {
	back, bar, border, dots string
	tones                   [Comment + 1]string
}

func light() scheme {
	return scheme{back: "#ffffff", bar: "#f6f8fa", border: "#d1d9e0", dots: "#d1d9e0",
		tones: [...]string{Plain: "#25292e", Strong: "#010409", Good: "#116329", Warn: "#7d4e00",
			Bad: "#b3202c", Faint: "#59636e", Comment: "#0550ae"}}
}

func dark() scheme {
	return scheme{back: "#0d1117", bar: "#161b22", border: "#3d444d", dots: "#3d444d",
		tones: [...]string{Plain: "#d6dde4", Strong: "#ffffff", Good: "#4ac26b", Warn: "#d9a72e",
			Bad: "#ff7b72", Faint: "#9198a1", Comment: "#79c0ff"}}
}

// classes returns the names of the tones in the style.
func classes() [Comment + 1]string {
	return [...]string{Plain: "p", Strong: "s", Good: "g", Warn: "w", Bad: "b", Faint: "f",
		Comment: "c"}
}

// window returns the rules for the colours of the window.
func (s scheme) window() string {
	return fmt.Sprintf(".win{fill:%s;stroke:%s}.win-bar{fill:%s;stroke:%s}.win-dot{fill:%s}"+
		".win-name{fill:%s}", s.back, s.border, s.bar, s.border, s.dots, s.tones[Faint])
}

// css returns the rules for the colours of the text.
func (s scheme) css() string {
	rules := fmt.Sprintf(".back{fill:%s}.block{fill:%s}", s.back, s.tones[Faint])
	for t, class := range classes() {
		rules += fmt.Sprintf(".%s{fill:%s}", class, s.tones[t])
	}
	return rules
}
