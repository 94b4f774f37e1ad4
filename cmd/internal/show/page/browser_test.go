package page

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// browse makes a real browser open file, and returns the DOM and what the browser has said. STRICT
// does not require one, because Chromium is too large to install for these tests.
func browse(t *testing.T, file string, flags ...string) (dom, log string) {
	t.Helper()
	browser := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil && browser == "" {
			browser = path
		}
	}
	if browser == "" {
		t.Skip("needs chromium")
	}

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()

	dir := filepath.Dir(file)
	cmd := exec.CommandContext(ctx, browser, append(flags, "--headless=new", "--no-sandbox",
		"--disable-gpu", "--user-data-dir="+filepath.Join(dir, "profile"),
		"--enable-logging=stderr", "--dump-dom", "file://"+file)...)
	cmd.Env = append(os.Environ(), "HOME="+dir)
	cmd.WaitDelay = time.Second
	var said strings.Builder
	cmd.Stderr = &said
	text, err := cmd.Output()
	if err != nil {
		t.Skipf("needs a chromium that starts: %v\n%s", err, said.String())
	}
	return string(text), said.String()
}

// save writes text to a file name in a new directory, and returns its path.
func save(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestBrowser makes a real browser read the hostile page: nothing in it runs, and the browser
// reports no errors.
func TestBrowser(t *testing.T) {
	t.Parallel()
	text, log := browse(t, save(t, "page.html", hostile().Text()))
	for line := range strings.Lines(log) {
		if strings.Contains(line, "CONSOLE") {
			t.Errorf("the browser says: %s", line)
		}
	}

	if !strings.Contains(text, "<title>Ledger · DPL</title>") ||
		!strings.HasSuffix(strings.TrimSpace(text), "</html>") {
		t.Errorf("the browser has read\n%s", text)
	}

	for _, no := range []string{"<script", "<img"} {
		if strings.Contains(text, no) {
			t.Errorf("for the browser there is an element %s", no)
		}
	}
}

// looks is a page that opens page.html on a phone, and says in its text what is wider than that, and
// which text has too little contrast to what is behind it.
const looks = `<!DOCTYPE html><iframe id="phone" src="page.html" width="360" height="800"></iframe>
<pre id="said"></pre><script>
const wrong = [];
let texts = 0;
function luminance(c) {
	const l = c.slice(0, 3).map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
	return 0.2126 * l[0] + 0.7152 * l[1] + 0.0722 * l[2];
}
function check(element, style, what) {
	const numbers = text => text.match(/[0-9.]+/g).map(Number);
	let behind = style.backgroundColor, at = element;
	while (numbers(behind)[3] === 0) {
		if (getComputedStyle(at).backgroundImage !== "none") return; // hatched
		behind = getComputedStyle(at).backgroundColor;
		at = at.parentElement || document.body;
	}
	const a = luminance(numbers(style.color)), b = luminance(numbers(behind));
	const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
	texts++;
	if (contrast < 4.5) wrong.push("contrast " + contrast.toFixed(2) + " of " + what + ": " +
		style.color + " on " + behind);
}
onload = () => {
	const page = document.getElementById("phone").contentDocument;
	for (const folded of page.querySelectorAll("details")) folded.open = true;
	const width = page.documentElement.scrollWidth;
	if (width > 360) wrong.push("it is " + width + " pixels wide");
	for (const element of page.body.querySelectorAll("*")) {
		const own = [...element.childNodes].some(n => n.nodeType === 3 && n.data.trim());
		const what = element.tagName + "." + element.className;
		if (own) check(element, getComputedStyle(element), what);
		const before = getComputedStyle(element, "::before");
		if (!["none", "normal", '""'].includes(before.content)) check(element, before, what + "::before");
	}
	document.getElementById("said").textContent = texts + " texts\n" + wrong.join("\n");
};
</script>`

// On a phone the page is not wider than the screen, whatever others have written; and all text has
// a contrast of at least 4.5 to what a browser draws behind it, in both schemes.
func TestBrowserLooks(t *testing.T) {
	t.Parallel()
	for scheme, setting := range map[string]string{"dark": "0", "light": "1"} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			file := save(t, "looks.html", looks)
			long := hostile()
			long.Operations[0].Stack[0].CallID = strings.Repeat("x", 120)
			page := filepath.Join(filepath.Dir(file), "page.html")
			if err := os.WriteFile(page, []byte(long.Text()), 0o600); err != nil {
				t.Fatal(err)
			}

			dom, log := browse(t, file, "--allow-file-access-from-files", "--window-size=500,900",
				"--virtual-time-budget=5000", "--blink-settings=preferredColorScheme="+setting)
			_, said, _ := strings.Cut(dom, `<pre id="said">`)
			said, _, _ = strings.Cut(said, "</pre>")
			count, wrong, _ := strings.Cut(said, "\n")
			if n, err := strconv.Atoi(strings.TrimSuffix(count, " texts")); err != nil || n < 100 {
				t.Fatalf("%q were looked at: %v\n%s", count, err, log)
			}
			for line := range strings.Lines(wrong) {
				t.Error(line)
			}
		})
	}
}
