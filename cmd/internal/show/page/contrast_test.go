package page

import (
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A rule is one of style.css.
type rule struct{ selector, declarations string }

var (
	ruleForm     = regexp.MustCompile(`([^{}]+)\{([^{}]*)\}`)
	variableForm = regexp.MustCompile(`--([a-z0-9]+):(#[0-9a-f]+)`)
	useForm      = regexp.MustCompile(`var\(--([a-z0-9]+)\)`)
	commentForm  = regexp.MustCompile(`(?s)/\*.*?\*/`)
)

// schemes returns the colors of style.css, first of the light scheme and then of the dark one, and
// its other rules.
func schemes(t *testing.T) (both [2]map[string]string, rules []rule) {
	for _, r := range ruleForm.FindAllStringSubmatch(commentForm.ReplaceAllString(style, ""), -1) {
		selector := strings.TrimSpace(r[1])
		if selector != ":root" {
			rules = append(rules, rule{selector, ";" + r[2]})
			continue
		}

		scheme := 0
		if both[0] != nil {
			scheme = 1
		}
		both[scheme] = make(map[string]string)
		for _, v := range variableForm.FindAllStringSubmatch(r[2], -1) {
			both[scheme][v[1]] = v[2]
		}
	}

	light, dark := slices.Sorted(maps.Keys(both[0])), slices.Sorted(maps.Keys(both[1]))
	if len(rules) < 50 || len(light) < 10 || !slices.Equal(light, dark) {
		t.Fatalf("%d rules; the light scheme has %q, the dark one %q", len(rules), light, dark)
	}
	return both, rules
}

// value returns what r says of a property, or "".
func (r rule) value(property string) string {
	_, after, found := strings.Cut(r.declarations, ";"+property+":")
	if !found {
		return ""
	}
	value, _, _ := strings.Cut(after, ";")
	return value
}

// colors returns the variables that a value uses.
func colors(value string) (all []string) {
	for _, use := range useForm.FindAllStringSubmatch(value, -1) {
		all = append(all, use[1])
	}
	return all
}

// luminance returns the relative luminance of a color, as WCAG 2.2 defines it.
func luminance(t *testing.T, color string) float64 {
	t.Helper()
	digits := strings.TrimPrefix(color, "#")
	if len(digits) == 3 {
		digits = string([]byte{digits[0], digits[0], digits[1], digits[1], digits[2], digits[2]})
	}
	n, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || len(digits) != 6 {
		t.Fatalf("%q is no color", color)
	}

	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		c := float64(n>>(16-8*i)&0xff) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}

func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// TestContrastOfKnownColors compares with the numbers that WCAG tools give.
func TestContrastOfKnownColors(t *testing.T) {
	for pair, want := range map[[2]string]float64{
		{"#000", "#fff"}: 21, {"#777777", "#ffffff"}: 4.48, {"#767676", "#fff"}: 4.54,
	} {
		if got := contrast(t, pair[0], pair[1]); math.Abs(got-want) > 0.005 {
			t.Errorf("%v: %.3f, want %.2f", pair, got, want)
		}
	}
}

// Text has a contrast of at least 4.5 to every background that it can be on, in both schemes. What
// has a background of its own says which color its text has; all other text can be on the page, on
// a card or on code.
func TestContrast(t *testing.T) {
	both, rules := schemes(t)
	surfaces := []string{"bg", "card", "code"}
	pairs := make(map[[2]string]string)
	for _, r := range rules {
		text, grounds := colors(r.value("color")), colors(r.value("background"))
		drawn := strings.Contains(r.declarations, `content:""`) ||
			strings.HasPrefix(r.selector, ".silent") || strings.HasPrefix(r.selector, "li:has")
		switch {
		case drawn: // has no text
		case len(grounds) > 0 && len(text) != 1:
			t.Errorf("%s has a background, and does not say the color of its text", r.selector)
			continue
		case len(text) > 0 && len(grounds) == 0:
			grounds = surfaces
		}
		for _, ground := range grounds {
			if !drawn {
				pairs[[2]string{text[0], ground}] = r.selector
			}
		}
	}

	if len(pairs) < 25 {
		t.Errorf("there are %d pairs of text and background, want 25 or more", len(pairs))
	}
	for i, scheme := range both {
		for pair, selector := range pairs {
			const least = 4.5
			if got := contrast(t, scheme[pair[0]], scheme[pair[1]]); got < least {
				t.Errorf("%s: %s on %s of scheme %d: %.2f, want %v", selector, pair[0], pair[1], i,
					got, least)
			}
		}
	}
}

// Every color is a variable that both schemes set, and nothing makes text paler: otherwise
// TestContrast would not see it.
func TestColorsAreVariables(t *testing.T) {
	both, rules := schemes(t)
	literal := regexp.MustCompile(`#[0-9a-f]{3}|rgb|hsl|color-mix|filter:|currentcolor`)
	for _, r := range rules {
		if found := literal.FindString(r.declarations); found != "" {
			t.Errorf("%s has %s, and not a variable", r.selector, found)
		}
		if o := r.value("opacity"); o != "" && r.selector != ".filter input" {
			t.Errorf("%s has an opacity of %s", r.selector, o)
		}
		for _, name := range colors(r.declarations) {
			if name != "mono" && both[0][name] == "" {
				t.Errorf("%s has --%s, which is not set", r.selector, name)
			}
		}
	}
}

// A failure can be seen without color: its pill, span, mark or trouble has a sign, a pattern or a
// shape of its own.
func TestFailureWithoutColor(t *testing.T) {
	_, rules := schemes(t)
	for _, want := range []struct{ selector, property, value string }{
		{".pill.bad::before", "content", `"\2715`}, {"b.bad::before", "content", `"\2715`},
		{".pill.warn::before", "content", `"!`}, {".trouble.bad::before", "content", `"\2715`},
		{".trouble.warn::before", "content", `"!`},
		{".span.bad", "background", "repeating-linear-gradient"}, {".mark.bad", "border-radius", "2px"},
	} {
		if !slices.ContainsFunc(rules, func(r rule) bool {
			return slices.Contains(strings.Split(r.selector, ","), want.selector) &&
				strings.HasPrefix(r.value(want.property), want.value)
		}) {
			t.Errorf("%s has no %s of %s", want.selector, want.property, want.value)
		}
	}
}
