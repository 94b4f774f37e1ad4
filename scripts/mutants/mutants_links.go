package main

// links are bugs in how a program is several commands.
var links = []mutant{
	{
		"the pass of a keeper needs a link", "cmd/internal/orchestrator/on_exit.go",
		`".exe") == "dpl" {`, `".exe") == "" {`, []string{"dpl/links.txtar"},
	}, {
		"dpl links replaces files", "cmd/dpl/links.go",
		"	if _, err := os.Lstat(link); err == nil {\n", "	if os.Remove(link) != nil && false {\n",
		[]string{"dpl/links.txtar"},
	}, {
		"only the first argument says which command", "cmd/dpl/main.go",
		"		become(called.File())\n", "", []string{"dpl/links.txtar"},
	}, {
		"dpl run is dpl for ps", "cmd/internal/called/called_linux.go",
		"	bytes[end] = '-'\n", "", []string{"dpl/links.txtar"},
	}, {
		"a command whose link is missing", "cmd/dpl/dispatch.go",
		"		file = c.program\n", "		_ = c\n", []string{"dpl/links.txtar"},
	}, {
		"dpl run refuses with the status of others", "cmd/internal/entry/entry_linux_amd64.s",
		"	MOVQ	$0x006e7572006c7064, CX", "	MOVQ	$0x006e7572006c7065, CX",
		[]string{"limits/address_space.txtar"},
	},
}
