package upstream

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// luaSources is where source.sh puts the sources of Lua.
const luaSources = "/usr/src/lua5.4"

// Lua fills the directory dir with the sources of Lua 5.4. It returns ErrMissing if source.sh has
// not fetched them.
func Lua(dir string) error {
	err := os.CopyFS(dir, os.DirFS(luaSources))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s: run scripts/upstream/source.sh lua5.4", ErrMissing, luaSources)
	}
	return err
}
