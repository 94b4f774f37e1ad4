package page

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestBrowser makes a real browser read the hostile page: nothing in it runs, and the browser
// reports no errors. STRICT does not require it, because Chromium is too large to install for one
// test.
func TestBrowser(t *testing.T) {
	browser := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil && browser == "" {
			browser = path
		}
	}

	if browser == "" {
		t.Skip("needs chromium")
	}

	dir := t.TempDir()
	file := filepath.Join(dir, "page.html")
	if err := os.WriteFile(file, []byte(hostile().Text()), 0o600); err != nil {
		t.Fatal(err)
	}

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()

	cmd := exec.CommandContext(ctx, browser, "--headless=new", "--no-sandbox", "--disable-gpu",
		"--user-data-dir="+filepath.Join(dir, "profile"),
		"--enable-logging=stderr", "--dump-dom", "file://"+file)
	cmd.Env = append(os.Environ(), "HOME="+dir)
	cmd.WaitDelay = time.Second
	var log strings.Builder
	cmd.Stderr = &log
	dom, err := cmd.Output()
	if err != nil {
		t.Skipf("needs a chromium that starts: %v\n%s", err, log.String())
	}

	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, "CONSOLE") {
			t.Errorf("the browser says: %s", line)
		}
	}

	text := string(dom)
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
