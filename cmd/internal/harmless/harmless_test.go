package harmless

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

// kept is text that is drawn as it is: what people write.
var kept = []string{
	"", "plain text, with \"quotes\", 'more' and C:\\users\\x", "\ufffd", "ä€ é ß ñ ø ı",
	"e\u0301 a\u0300\u0323 ế", // marks on letters, as macOS writes names of files
	"日本語", "カタカナとひらがな", "gitの設定", "Tシャツ", "한국어 漢字를", "ＡＢＣ会社", "注音ㄅㄆㄇ", "々", "。、「」",
	"привет, мир", "IT-отдел", "docker-контейнер", "Καλημέρα κόσμε", "עברית", "שָׁלוֹם",
	"العربية", "क्षत्रिय", "ไทยgitไทย", "བསྒྲུབས", "Հայերեն", "ქართული",
	"5 µs, 3 μm, 4 kΩ, 4 k\u2126, Δt, 2πr", "x² → y³, ≤ ≠ ∞ ½ № ™ © ® …", "│ └─ ▓ ░", "①②",
	"⚠️ ✔️ ❤️ ☁ ✈️ ▶️ ℹ️ ©️ ⬛ ⭐", "😀👍🏽", "🇩🇪", "1️⃣ #️⃣ *️⃣",
}

// drawn is text of which something is not plainly visible, and how it is drawn.
var drawn = []struct{ in, want string }{
	{"\x1b[2J", `\u{1b}[2J`},
	{"a\u009b31m", `a\u{9b}31m`},
	{"\u202etxt.exe\u2066", `\u{202e}txt.exe\u{2066}`},
	{"a\tb\nc\r\x7f\x00", `a⇥b\u{a}c\u{d}\u{7f}\u{0}`},
	{"⇥", `\u{21e5}`},
	{"line\u2028two\u2029three", `line\u{2028}two\u{2029}three`},
	{"bytes \x9b\xff", `bytes \x{9b}\x{ff}`},
	{"cut \xe2\x82", `cut \x{e2}\x{82}`},
	{`\u{202e} \x{ff} \u \x \\u{`, `\u{5c}u{202e} \u{5c}x{ff} \u \x \\u{5c}u{`},

	{"a\u3164b\u115fc\u1160d\uffa0e\u034ff\ufe0fg\u2800h\u180ei", `a\u{3164}b\u{115f}c\u{1160}d\u{ffa0}e\u{34f}f\u{fe0f}g\u{2800}h\u{180e}i`},
	{"a\u00a0b\u2003c\u3000d\u202fe\u1680f\u205fg", `a\u{a0}b\u{2003}c\u{3000}d\u{202f}e\u{1680}f\u{205f}g`},
	{"soft\u00adhyphen\u200b\ufeff", `soft\u{ad}hyphen\u{200b}\u{feff}`},
	{"\ue000\U000f0000\ufffe\U0010ffff\u0378", `\u{e000}\u{f0000}\u{fffe}\u{10ffff}\u{378}`},
	{"tags \U000e0067\U000e0062", `tags \u{e0067}\u{e0062}`},
	{"🏴\U000e0061\U000e007f", `🏴\u{e0061}\u{e007f}`},
	{"rm -rf old\u037e ls \u1fefid\u1fef 4 \u212a", `rm -rf old\u{37e} ls \u{1fef}id\u{1fef} 4 \u{212a}`},
	{"a\u2010b\u2044c\u2215d\u2223e\u01c0f\ua789g", `a\u{2010}b\u{2044}c\u{2215}d\u{2223}e\u{1c0}f\u{a789}g`},
	{"\U0001d159\U00013441", `\u{1d159}\u{13441}`},
	// All that wcwidth of glibc 2.36 gives more columns than go-runewidth does.
	{"㉈㉉㉊㉋㉌㉍㉎㉏ ㊿㉐", `\u{3248}\u{3249}\u{324a}\u{324b}\u{324c}\u{324d}\u{324e}\u{324f} ㊿㉐`},
	{"a\U0001d165\U0001d166", `a\u{1d165}\u{1d166}`},
	{"a\U0001d16d\U0001d16e b\U0001d16f\U0001d170", `a\u{1d16d}\u{1d16e} b\u{1d16f}\u{1d170}`},
	{"a\U0001d171\U0001d172", `a\u{1d171}\u{1d172}`},
	{"𝚐𝚒𝚝 𝟏", `\u{1d690}\u{1d692}\u{1d69d} \u{1d7cf}`},

	{"\u0301a \u0301/\u0338 1\u0301", `\u{301}a \u{301}/\u{338} 1\u{301}`},
	{"r\u0336m\u20dd", `r\u{336}m\u{20dd}`},
	{"Z\u0301\u0302\u0303\u0304\u0305\u0306", "Z\u0301\u0302\u0303\u0304\\u{305}\\u{306}"},
	{"1\u20e3 a\ufe0f\u20e3", `1\u{20e3} a\u{fe0f}\u{20e3}`},

	{"g\u0456t st\u0430tus", `g\u{456}t st\u{430}tus`},
	{"foo_\u0430, x2\u0430b", `foo_\u{430}, x2\u{430}b`},
	{"пaроль", `п\u{61}роль`},
	{"gοοgle", `g\u{3bf}\u{3bf}gle`},
	{"\u0430\u0302bc", `\u{430}\u{302}bc`},
	{"v2_версия", `\u{76}2_версия`},
	{"командa日", `команд\u{61}\u{65e5}`},
	{"gⲟ ոo Ꭺb", `g\u{2c9f} \u{578}o \u{13aa}b`},

	{"👨\u200d👩\u200d👧 🏳️\u200d🌈 👩🏽\u200d🚀", `👨\u{200d}👩\u{200d}👧 🏳️\u{200d}🌈 👩🏽\u{200d}🚀`},
	{"🏴\U000e0067\U000e007f", `🏴\u{e0067}\u{e007f}`},
	{"क्\u200dष ශ්\u200dරී ක්\u200cෂ", `क्\u{200d}ष ශ්\u{200d}රී ක්\u{200c}ෂ`},
	{"a\u200db\u200c \u200d", `a\u{200d}b\u{200c} \u{200d}`},
	{"می\u200c\u200cخو", `\u{645}\u{6cc}\u{200c}\u{200c}\u{62e}\u{648}`},
	{"می\u200c x", `\u{645}\u{6cc}\u{200c} x`},
	{"ไท\u200dย", `ไท\u{200d}ย`},
	{"👨\u200d x", `👨\u{200d} x`},
	{"👨\u200dx", `👨\u{200d}x`},
	{"⚠️\ufe0f", `⚠️\u{fe0f}`},
	{"→\ufe0f", `→\u{fe0f}`},
}

func TestText(t *testing.T) {
	t.Parallel()
	for _, text := range kept {
		if got := Text(text); got != text {
			t.Errorf("Text(%q): got %q", text, got)
		}
	}
	for _, c := range drawn {
		if got := Text(c.in); got != c.want {
			t.Errorf("Text(%+q): got %q, want %q", c.in, got, c.want)
		}
	}
}

// A reader that understands only ASCII gets nothing else: a terminal of 8 bits obeys bytes of UTF-8.
func TestASCII(t *testing.T) {
	ASCII = true
	defer func() { ASCII = false }()
	for in, want := range map[string]string{
		"plain": "plain", "\u011b2J": `\u{11b}2J`, "e\u0301": `e\u{301}`, "привет": `\u{43f}\u{440}\u{438}\u{432}\u{435}\u{442}`,
		"😀": `\u{1f600}`, "a\tb": `a\u{9}b`, "1️⃣": `1\u{fe0f}\u{20e3}`, "\xff": `\x{ff}`,
	} {
		if got := Text(in); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
	if got := JSON(`{"a": "ě"}`); got != `{"a": "\u011b"}` {
		t.Errorf("got %s", got)
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"": "|", "a": "a|", "a\n\nb\n": "a||b||",
		"a\r\n\u2028b": `a\u{d}|\u{2028}b|`} {
		if got := strings.Join(Lines(in), "|") + "|"; got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}

// undrawn returns the text of which text is the drawing.
func undrawn(t *testing.T, text string) string {
	var out strings.Builder
	for text != "" {
		r, size := utf8.DecodeRuneInString(text)
		if r == tab {
			out.WriteByte('\t')
			text = text[size:]
			continue
		}
		if !looksEscaped(text) || r != '\\' {
			out.WriteString(text[:size])
			text = text[size:]
			continue
		}

		code, rest, closed := strings.Cut(text[3:], "}")
		var n rune
		if _, err := fmt.Sscanf(code, "%x", &n); err != nil || !closed {
			t.Fatalf("%q is no escape", text)
		}
		if text[1] == 'x' {
			out.WriteByte(byte(n))
		} else {
			out.WriteRune(n)
		}
		text = rest
	}
	return out.String()
}

// FuzzText checks that what is drawn can be told from every other text, that people see it, and that
// JSON stays the same document.
func FuzzText(f *testing.F) {
	for _, text := range kept {
		f.Add(text)
	}
	for _, c := range drawn {
		f.Add(c.in)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got := Text(in)
		if back := undrawn(t, got); back != in {
			t.Errorf("%+q is drawn as %q, which is %+q", in, got, back)
		}
		if !strings.ContainsFunc(in, func(r rune) bool { return r < ' ' || r > '~' }) &&
			!strings.Contains(in, `\u{`) && !strings.Contains(in, `\x{`) && got != in {
			t.Errorf("%q is drawn as %q", in, got)
		}
		checkVisible(t, got)

		if !utf8.ValidString(in) {
			return
		}
		document, err := json.Marshal(map[string]string{in: "\u009b" + in})
		if err != nil {
			t.Fatal(err)
		}
		safe := JSON(string(document))
		var same map[string]string
		if err := json.Unmarshal([]byte(safe), &same); err != nil || same[in] != "\u009b"+in {
			t.Errorf("%+q: got %q, %v", in, safe, err)
		}
		checkVisible(t, safe)
	})
}

// checkVisible checks what people see of a drawn text, by other means than those that draw it.
func checkVisible(t *testing.T, drawn string) {
	t.Helper()
	marks, before := 0, ' '
	for _, r := range drawn {
		switch {
		case r == emojiStyle, r == keycap:
			if before < utf8.RuneSelf && r != emojiStyle {
				t.Errorf("%+q: %U after %U", drawn, r, before)
			}
		case r == utf8.RuneError:
		case !unicode.IsGraphic(r), r != ' ' && unicode.Is(unicode.Zs, r),
			unicode.Is(unicode.Cf, r), unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r),
			unicode.Is(unicode.Variation_Selector, r):
			t.Errorf("%+q: %U is drawn", drawn, r)
		}

		if unicode.Is(unicode.M, r) && r != emojiStyle && r != keycap {
			if marks++; marks > 4 || marks == 1 && !unicode.IsLetter(before) {
				t.Errorf("%+q: mark %U after %U", drawn, r, before)
			}
		} else {
			marks = 0
		}
		before = r
	}
}

func TestShort(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		most int
		want string
	}{{"short", 5, "short"}, {strings.Repeat("a", 50) + strings.Repeat("b", 50), 40,
		"aaaaaa … 88 more bytes … bbbbbb"}, {strings.Repeat("ö", 50), 41, "ööö … 88 more bytes … ööö"}} {
		if got := Short(c.in, c.most); got != c.want || len(got) > c.most {
			t.Errorf("%q: got %q, want %q", c.in, got, c.want)
		}
	}
}

func BenchmarkText(b *testing.B) {
	for name, text := range map[string]string{"ascii": strings.Repeat("plain text ", 100),
		"german": strings.Repeat("schöner Text ", 100), "japanese": strings.Repeat("日本語の文章。", 100)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Text(text)
			}
		})
	}
}

// TestLinear checks that the time to draw a text grows with its length, whatever is in it.
func TestLinear(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"a.", "é", "é.", "1️⃣", "👨\u200d", "a\u0301\u0301", "\\", "\x1b", "gі", "é a", "aé "} {
		short := strings.Repeat(unit, 2000) + "é"
		long := strings.Repeat(unit, 64_000) + "é"
		took := func(text string) time.Duration {
			best := time.Hour
			for range 3 {
				began := time.Now()
				Text(text)
				best = min(best, time.Since(began))
			}
			return best
		}
		if once, often := took(short), took(long); often > 32*8*max(once, time.Millisecond/10) {
			t.Errorf("%+q: %v for 2000, %v for 64000", unit, once, often)
		}
	}
}
