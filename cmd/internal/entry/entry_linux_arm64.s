#include "textflag.h"

#define SYS_fcntl 25
#define SYS_close 57
#define SYS_write 64
#define SYS_exit_group 94
#define SYS_waitid 95
#define SYS_rt_sigaction 134
#define SYS_rt_sigpending 136
#define SYS_setsid 157
#define SYS_prctl 167
#define SYS_getpid 172
#define SYS_getppid 173
#define SYS_clone 220
#define SYS_execve 221
#define SYS_wait4 260
#define SYS_pidfd_open 434
#define SYS_close_range 436

#define F_GETFD 1

#define GATE 3
#define EINTR 4
#define SIG_IGN 1
#define SIG34 34
#define SA_FLAGS 0x18000000 // SA_ONSTACK, SA_RESTART
#define SIGHUP 1
#define SIGTERM 15
#define P_ALL 0
#define WEXITED 4
#define WNOWAIT 0x1000000
#define siPID 16 // in a siginfo_t
#define SIGKILL 9
#define SIGCHLD 17
#define PR_SET_PDEATHSIG 1
#define PR_SET_NAME 15
#define PR_SET_CHILD_SUBREAPER 36

// The stack has argc at 0(RSP), and then argv. The memory below it is free: no Go code runs yet.
TEXT dpl_entry(SB),NOSPLIT|NOFRAME,$0
	// fcntl(0, F_GETFD)
	MOVD	$SYS_fcntl, R8
	MOVD	$0, R0
	MOVD	$F_GETFD, R1
	SVC
	CMP	$0, R0
	BGE	stdout
	MOVD	$1, R1
	MOVB	R1, ·closed+0(SB)

stdout:
	// fcntl(1, F_GETFD)
	MOVD	$SYS_fcntl, R8
	MOVD	$1, R0
	MOVD	$F_GETFD, R1
	SVC
	CMP	$0, R0
	BGE	stderr
	MOVD	$1, R1
	MOVB	R1, ·closed+1(SB)

stderr:
	// fcntl(2, F_GETFD)
	MOVD	$SYS_fcntl, R8
	MOVD	$2, R0
	MOVD	$F_GETFD, R1
	SVC
	CMP	$0, R0
	BGE	open
	MOVD	$1, R1
	MOVB	R1, ·closed+2(SB)

open:
	// The keeper of a start has five arguments, or nine; the second one says that it is a keeper.
	MOVD	0(RSP), R0
	CMP	$5, R0
	BEQ	maybe
	CMP	$9, R0
	BNE	runtime

maybe:
	MOVD	16(RSP), R1
	MOVD	$keeper<>(SB), R2

compare:
	MOVBU	(R1), R0
	MOVBU	(R2), R3
	CMP	R3, R0
	BNE	runtime
	ADD	$1, R1
	ADD	$1, R2
	CBNZ	R0, compare
	B	dpl_keep(SB)

runtime:
	MOVD	·profileRate(SB), R0
	MOVD	ZR, (R0)

	// Only dpl-run, dpl-work and dpl-serve, or dpl run and so on, need the signals. R5 gets what
	// follows argv[0]. Of long names, it compares the end, or of a second argument the beginning.
	MOVD	0(RSP), R0
	CBZ	R0, processors
	MOVD	8(RSP), R5

letter:
	MOVBU	(R5), R0
	ADD	$1, R5
	CBNZ	R0, letter
	MOVD	-8(R5), R0
	MOVD	$0x006e75722d6c7064, R1 // "dpl-run"
	CMP	R1, R0
	BEQ	signals
	MOVD	$0x006b726f772d6c70, R1 // "pl-work"
	CMP	R1, R0
	BEQ	signals
	MOVD	$0x0065767265732d6c, R1 // "l-serve"
	CMP	R1, R0
	BEQ	signals
	MOVD	-4(R5), R0
	MOVD	$0x006e7572006c7064, R1 // "dpl" and the next argument, "run"
	CMP	R1, R0
	BEQ	signals
	MOVD	$0x6b726f77006c7064, R1 // "dpl" and "work"
	CMP	R1, R0
	BEQ	signals
	MOVD	$0x76726573006c7064, R1 // "dpl" and "serv"
	CMP	R1, R0
	BNE	processors

signals:
	MOVD	$1, R12 // the signal
	MOVD	$1, R13 // its bit
	MOVD	$0, R14 // those that are ignored
	SUB	$64, RSP, R15

signal:
	// rt_sigaction(R12, nil, RSP-64, 8)
	MOVD	$SYS_rt_sigaction, R8
	MOVD	R12, R0
	MOVD	$0, R1
	MOVD	R15, R2
	MOVD	$8, R3
	SVC
	MOVD	(R15), R0
	CMP	$SIG_IGN, R0
	BNE	heeded
	ORR	R13, R14

heeded:
	LSL	$1, R13
	ADD	$1, R12
	CMP	$64, R12
	BLE	signal
	MOVD	R14, ·ignored(SB)
	MOVD	$1, R1
	MOVB	R1, ·ignoredKnown(SB)

	// rt_sigaction(34, {dpl_nothing, SA_FLAGS}, nil, 8), unless it is ignored
	TBNZ	$(SIG34-1), R14, processors
	MOVD	$dpl_nothing(SB), R0
	MOVD	R0, (R15)
	MOVD	$SA_FLAGS, R0
	MOVD	R0, 8(R15)
	MOVD	ZR, 16(R15)
	MOVD	ZR, 24(R15)
	MOVD	$SYS_rt_sigaction, R8
	MOVD	$SIG34, R0
	MOVD	R15, R1
	MOVD	$0, R2
	MOVD	$8, R3
	SVC

processors:
	// Look for GOMAXPROCS in the environment, which is after argc, argv and a null.
	MOVD	0(RSP), R5
	ADD	$16, RSP, R1
	ADD	R5<<3, R1
	MOVD	$0x4f525058414d4f47, R2 // "GOMAXPRO"

variable:
	MOVD.P	8(R1), R0
	CBZ	R0, one
	MOVD	(R0), R0
	CMP	R2, R0
	BNE	variable
	B	_rt0_arm64_linux(SB)

one:
	// Add it twice: move argc, argv and the null down by two words, so that RSP stays aligned.
	ADD	$2, R5
	MOVD	RSP, R1
	SUB	$16, RSP
	MOVD	RSP, R2

move:
	MOVD.P	8(R1), R0
	MOVD.P	R0, 8(R2)
	SUB	$1, R5
	CBNZ	R5, move
	MOVD	$one<>(SB), R0
	MOVD	R0, 0(R2)
	MOVD	R0, 8(R2)
	MOVD	$1, R0
	MOVB	R0, ·oneProcessor(SB)
	B	_rt0_arm64_linux(SB)

// Dpl_nothing handles a signal. The kernel has it return to where that was.
TEXT dpl_nothing(SB),NOSPLIT|NOFRAME,$0
	RET

// Dpl_keep is keep in package start. All signals are blocked, and the stack is as at dpl_entry.
TEXT dpl_keep(SB),NOSPLIT|NOFRAME,$0
	// close_range(GATE+1, ~0, 0); before Linux 5.9, leave everything to package start
	MOVD	$SYS_close_range, R8
	MOVD	$(GATE+1), R0
	MOVD	$0xffffffff, R1
	MOVD	$0, R2
	SVC
	CBNZ	R0, runtime

	// prctl(PR_SET_NAME, argv[0])
	MOVD	$SYS_prctl, R8
	MOVD	$PR_SET_NAME, R0
	MOVD	8(RSP), R1
	SVC

	// prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	MOVD	$SYS_prctl, R8
	MOVD	$PR_SET_CHILD_SUBREAPER, R0
	MOVD	$1, R1
	MOVD	$0, R2
	MOVD	$0, R3
	MOVD	$0, R4
	SVC
	CBNZ	R0, say

	// A fork, not a vfork: the keeper is so small that this is faster than waiting for the execve.
	MOVD	$SYS_getpid, R8
	SVC
	MOVD	R0, R12
	MOVD	$SYS_clone, R8
	MOVD	$SIGCHLD, R0
	MOVD	$0, R1
	MOVD	$0, R2
	MOVD	$0, R3
	MOVD	$0, R4
	SVC
	CBZ	R0, stage
	MOVD	R0, R13
	CMP	$0, R0
	BGT	close

say:
	// write(GATE, {-errno}, 8)
	SUB	$16, RSP, R1
	MOVD	R0, (R1)
	MOVD	$SYS_write, R8
	MOVD	$GATE, R0
	MOVD	$8, R2
	SVC

close:
	// close(GATE)
	MOVD	$SYS_close, R8
	MOVD	$GATE, R0
	SVC

	// pidfd_open(stage, 0), because others open theirs in half the time while there is one
	MOVD	$SYS_pidfd_open, R8
	MOVD	R13, R0
	MOVD	$0, R1
	SVC

	MOVD	0(RSP), R0
	CMP	$9, R0
	BNE	wait

await:
	// waitid(P_ALL, 0, siginfo, WEXITED|WNOWAIT, nil), until the stage has ended
	MOVD	$SYS_waitid, R8
	MOVD	$P_ALL, R0
	MOVD	$0, R1
	SUB	$256, RSP, R2
	MOVD	$(WEXITED|WNOWAIT), R3
	MOVD	$0, R4
	SVC
	CMN	$EINTR, R0
	BEQ	await
	CBNZ	R0, wait
	SUB	$256, RSP, R2
	MOVW	siPID(R2), R0
	CMP	R13, R0
	BEQ	ended

	// wait4(pid, nil, 0, nil)
	MOVD	$SYS_wait4, R8
	MOVD	$0, R1
	MOVD	$0, R2
	MOVD	$0, R3
	SVC
	B	await

ended:
	// rt_sigpending(RSP-16, 8); argv[7] becomes "1" if TERM or HUP is pending
	MOVD	$SYS_rt_sigpending, R8
	SUB	$16, RSP, R0
	MOVD	$8, R1
	SVC
	SUB	$16, RSP, R0
	MOVD	(R0), R0
	MOVD	$(1<<(SIGTERM-1) | 1<<(SIGHUP-1)), R1
	AND	R1, R0
	CBZ	R0, quiet
	MOVD	64(RSP), R0
	MOVD	$'1', R1
	MOVB	R1, (R0)

quiet:
	// rt_sigaction(15 to 1, {SIG_IGN}, nil, 8) forgets what is pending: the runtime would let it
	// through, though it is blocked
	MOVD	$SIGTERM, R14
	SUB	$64, RSP, R15
	MOVD	$SIG_IGN, R0
	MOVD	R0, (R15)
	MOVD	ZR, 8(R15)
	MOVD	ZR, 16(R15)
	MOVD	ZR, 24(R15)

ignore:
	MOVD	$SYS_rt_sigaction, R8
	MOVD	R14, R0
	MOVD	R15, R1
	MOVD	$0, R2
	MOVD	$8, R3
	SVC
	SUB	$1, R14
	CBNZ	R14, ignore

	// execve("/proc/self/exe", &argv[5], environment): see end in package start
	MOVD	$SYS_execve, R8
	MOVD	$self<>(SB), R0
	ADD	$48, RSP, R1
	ADD	$88, RSP, R2
	SVC

wait:
	// wait4(-1, nil, 0, nil), until no child is left
	MOVD	$SYS_wait4, R8
	MOVD	$-1, R0
	MOVD	$0, R1
	MOVD	$0, R2
	MOVD	$0, R3
	SVC
	CMP	$0, R0
	BGE	wait
	CMN	$EINTR, R0
	BEQ	wait
	MOVD	$0, R0
	B	exit

stage:
	MOVD	$SYS_setsid, R8
	SVC
	MOVD	$SYS_prctl, R8
	MOVD	$PR_SET_PDEATHSIG, R0
	MOVD	$SIGKILL, R1
	SVC
	MOVD	$SYS_getppid, R8
	SVC
	CMP	R12, R0
	BNE	orphan

	// write(GATE, {pid}, 8), as the leader of a session that dies with the keeper
	MOVD	$SYS_getpid, R8
	SVC
	SUB	$16, RSP, R1
	MOVD	R0, (R1)
	MOVD	$SYS_write, R8
	MOVD	$GATE, R0
	MOVD	$8, R2
	SVC

	// execve("/proc/self/exe", &argv[2], {nil}); the nil is the new end of argv
	MOVD	ZR, 48(RSP)
	MOVD	$SYS_execve, R8
	MOVD	$self<>(SB), R0
	ADD	$24, RSP, R1
	ADD	$48, RSP, R2
	SVC

orphan:
	MOVD	$1, R0

exit:
	MOVD	$SYS_exit_group, R8
	SVC
	BRK
	B	exit

runtime:
	B	_rt0_arm64_linux(SB)

DATA one<>+0(SB)/8, $"GOMAXPRO"
DATA one<>+8(SB)/8, $"CS=1\x00\x00\x00\x00"
GLOBL one<>(SB), RODATA|NOPTR, $16

DATA keeper<>+0(SB)/8, $"--dpl-st"
DATA keeper<>+8(SB)/8, $"art-keep"
DATA keeper<>+16(SB)/8, $"er\x00\x00\x00\x00\x00\x00"
GLOBL keeper<>(SB), RODATA|NOPTR, $24

DATA self<>+0(SB)/8, $"/proc/se"
DATA self<>+8(SB)/8, $"lf/exe\x00\x00"
GLOBL self<>(SB), RODATA|NOPTR, $16
