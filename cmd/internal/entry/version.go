package entry

import "runtime/debug"

// version is set by the Makefile.
var version string

// Version returns the version of the build: that of the Makefile, or of the module.
func Version() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return "unknown"
}
