package main

// keepers are bugs in the keeper of a start, where package entry implements it. See the other file
// about the tests to run.
var keepers = []mutant{
	{
		"a keeper that adopts nobody", "cmd/internal/entry/entry_linux_amd64.s",
		"	MOVL	$PR_SET_CHILD_SUBREAPER, DI\n	MOVL	$1, SI\n",
		"	MOVL	$PR_SET_CHILD_SUBREAPER, DI\n	XORL	SI, SI\n",
		[]string{"./cmd/internal/process/start TestKeptFromEntry"},
	}, {
		"a stage outlives its keeper", "cmd/internal/entry/entry_linux_amd64.s",
		"	MOVL	$SIGKILL, SI\n", "	XORL	SI, SI\n",
		[]string{"./cmd/internal/process/start TestKeptFromEntry"},
	}, {
		"a keeper holds what its pass was given", "cmd/internal/entry/entry_linux_amd64.s",
		"	MOVL	$(GATE+1), DI\n", "	MOVL	$(GATE+1000), DI\n",
		[]string{"./cmd/internal/process/start TestKeptFromEntry"},
	}, {
		"a keeper waits for one child", "cmd/internal/entry/entry_linux_amd64.s",
		"	TESTQ	AX, AX\n	JGE	wait\n", "",
		[]string{"./cmd/internal/process/start TestKeptFromEntry"},
	},
}
