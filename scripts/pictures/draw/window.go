package draw

import (
	"encoding/xml"
	"fmt"
	"strings"
)

// window returns a picture with a window around what is drawn, and the style of that.
func window(p Picture, width, height float64, style, drawn string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" role="img" width="%[1]s" `+
		`height="%[2]s" viewBox="0 0 %[1]s %[2]s">
<title>%[3]s</title>
<desc xml:space="preserve">%[4]s</desc>
`, number(width), number(height), escape(p.Title), escape(p.Text()))

	fmt.Fprintf(&b, "<style>svg{color-scheme:light dark}"+
		".win-name{font:12px system-ui,sans-serif;text-anchor:middle}"+
		"%s@media(prefers-color-scheme:dark){%s}\n%s</style>\n", light().window(),
		dark().window(), style)

	fmt.Fprintf(&b, `<rect class="win" x=".5" y=".5" width="%s" height="%s" rx="9"/>`+"\n",
		number(width-1), number(height-1))
	fmt.Fprintf(&b, `<path class="win-bar" d="M.5 %d.5V9.5a9 9 0 0 1 9-9h%sa9 9 0 0 1 9 9v%dz"/>`+
		"\n", barHeight, number(width-19), barHeight-9)
	for i := range 3 {
		fmt.Fprintf(&b, `<circle class="win-dot" cx="%d" cy="15.5" r="5"/>`, 19+i*17)
	}
	fmt.Fprintf(&b, "\n"+`<text class="win-name" x="%s" y="20">%s</text>`+"\n%s\n</svg>\n",
		number(width/2), escape(p.Title), drawn)

	return b.String()
}

// escape returns text as XML has it.
func escape(text string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(text))
	return strings.NewReplacer("&#xA;", "\n", "&#x9;", "\t", "&#34;", `"`, "&#39;", "'").
		Replace(b.String())
}
