// Package locale says what the environment says of those who read the output.
package locale

import (
	"cmp"
	"os"
	"strings"
)

// UTF8 reports whether the locale says that readers of the output understand UTF-8.
func UTF8() bool {
	locale := strings.ToLower(cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_CTYPE"), os.Getenv("LANG")))
	return strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
}
