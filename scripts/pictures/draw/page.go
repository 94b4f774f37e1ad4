package draw

import (
	"encoding/xml"
	"fmt"
	"strings"
)

// A Page is an HTML page that is also XML, of a size in pixels.
type Page struct {
	Width, Height int
	HTML          string
}

// page draws a page as it is, in the middle of the SVG, with its own style. So it is as sharp as
// the text around it, follows the scheme of the reader, and needs no browser to be drawn.
func page(p Picture) string {
	html := strings.TrimPrefix(p.Page.HTML, "<!DOCTYPE html>")
	html = strings.Replace(html, "<html", `<html xmlns="http://www.w3.org/1999/xhtml"`, 1)
	height := p.Page.Height + barHeight + 1
	return window(p, float64(p.Page.Width+2), float64(height+10),
		"foreignObject>*{background:var(--bg);min-height:100%}",
		fmt.Sprintf(`<foreignObject x="1" y="%d" width="%d" height="%d">%s</foreignObject>`,
			barHeight+1, p.Page.Width, p.Page.Height, html))
}

// text returns the text of a page, without its style, in a line for each element.
func (p Page) text() string {
	var b strings.Builder
	reader := xml.NewDecoder(strings.NewReader(p.HTML))
	reader.Strict = false
	skip := false
	for {
		token, err := reader.Token()
		if err != nil {
			return b.String()
		}

		switch t := token.(type) {
		case xml.StartElement:
			skip = t.Name.Local == "style"
		case xml.EndElement:
			skip = false
		case xml.CharData:
			if text := strings.Join(strings.Fields(string(t)), " "); text != "" && !skip {
				b.WriteString(text + "\n")
			}
		}
	}
}
