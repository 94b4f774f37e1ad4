#include "textflag.h"

#define SYS_write 1
#define SYS_close 3
#define SYS_rt_sigaction 13
#define SYS_rt_sigreturn 15
#define SYS_getpid 39
#define SYS_clone 56
#define SYS_execve 59
#define SYS_wait4 61
#define SYS_fcntl 72
#define SYS_getppid 110
#define SYS_setsid 112
#define SYS_rt_sigpending 127
#define SYS_prctl 157
#define SYS_exit_group 231
#define SYS_waitid 247
#define SYS_pidfd_open 434
#define SYS_close_range 436

#define F_GETFD 1

#define GATE 3
#define EINTR 4
#define SIG_IGN 1
#define SIG34 34
#define SA_FLAGS 0x1c000000 // SA_RESTORER, SA_ONSTACK, SA_RESTART
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

// The stack has argc at 0(SP), and then argv. The memory below it is free: no Go code runs yet.
TEXT dpl_entry(SB),NOSPLIT|NOFRAME,$0
	// fcntl(0, F_GETFD)
	MOVL	$SYS_fcntl, AX
	MOVL	$0, DI
	MOVL	$F_GETFD, SI
	SYSCALL
	TESTQ	AX, AX
	JGE	stdout
	MOVB	$1, ·closed+0(SB)

stdout:
	// fcntl(1, F_GETFD)
	MOVL	$SYS_fcntl, AX
	MOVL	$1, DI
	MOVL	$F_GETFD, SI
	SYSCALL
	TESTQ	AX, AX
	JGE	stderr
	MOVB	$1, ·closed+1(SB)

stderr:
	// fcntl(2, F_GETFD)
	MOVL	$SYS_fcntl, AX
	MOVL	$2, DI
	MOVL	$F_GETFD, SI
	SYSCALL
	TESTQ	AX, AX
	JGE	open
	MOVB	$1, ·closed+2(SB)

open:
	// The keeper of a start has five arguments, or nine; the second one says that it is a keeper.
	CMPQ	0(SP), $5
	JEQ	maybe
	CMPQ	0(SP), $9
	JNE	runtime

maybe:
	MOVQ	16(SP), SI
	LEAQ	keeper<>(SB), DI

compare:
	MOVBLZX	(SI), AX
	CMPB	AX, (DI)
	JNE	runtime
	INCQ	SI
	INCQ	DI
	TESTB	AX, AX
	JNE	compare
	JMP	dpl_keep(SB)

runtime:
	MOVQ	·profileRate(SB), AX
	MOVQ	$0, (AX)

	// Only dpl-run, dpl-work and dpl-serve, or dpl run and so on, need the signals. CX gets what
	// follows argv[0]. Of long names, it compares the end, or of a second argument the beginning.
	CMPQ	0(SP), $0
	JEQ	processors
	MOVQ	8(SP), CX

letter:
	MOVBLZX	(CX), AX
	INCQ	CX
	TESTB	AX, AX
	JNE	letter
	MOVQ	$0x006e75722d6c7064, DX // "dpl-run"
	CMPQ	-8(CX), DX
	JEQ	signals
	MOVQ	$0x006b726f772d6c70, DX // "pl-work"
	CMPQ	-8(CX), DX
	JEQ	signals
	MOVQ	$0x0065767265732d6c, DX // "l-serve"
	CMPQ	-8(CX), DX
	JEQ	signals
	MOVQ	$0x006e7572006c7064, DX // "dpl" and the next argument, "run"
	CMPQ	-4(CX), DX
	JEQ	signals
	MOVQ	$0x6b726f77006c7064, DX // "dpl" and "work"
	CMPQ	-4(CX), DX
	JEQ	signals
	MOVQ	$0x76726573006c7064, DX // "dpl" and "serv"
	CMPQ	-4(CX), DX
	JNE	processors

signals:
	MOVL	$1, R12 // the signal
	MOVL	$1, R13 // its bit
	XORL	R14, R14 // those that are ignored

signal:
	// rt_sigaction(R12, nil, SP-64, 8)
	MOVL	$SYS_rt_sigaction, AX
	MOVL	R12, DI
	XORL	SI, SI
	LEAQ	-64(SP), DX
	MOVL	$8, R10
	SYSCALL
	CMPQ	-64(SP), $SIG_IGN
	JNE	heeded
	ORQ	R13, R14

heeded:
	SHLQ	$1, R13
	INCL	R12
	CMPL	R12, $64
	JLE	signal
	MOVQ	R14, ·ignored(SB)
	MOVB	$1, ·ignoredKnown(SB)

	// rt_sigaction(34, {dpl_nothing, SA_FLAGS, dpl_return}, nil, 8), unless it is ignored
	BTQ	$(SIG34-1), R14
	JCS	processors
	LEAQ	dpl_nothing(SB), AX
	MOVQ	AX, -64(SP)
	MOVQ	$SA_FLAGS, AX
	MOVQ	AX, -56(SP)
	LEAQ	dpl_return(SB), AX
	MOVQ	AX, -48(SP)
	MOVQ	$0, -40(SP)
	MOVL	$SYS_rt_sigaction, AX
	MOVL	$SIG34, DI
	LEAQ	-64(SP), SI
	XORL	DX, DX
	MOVL	$8, R10
	SYSCALL

processors:
	// Look for GOMAXPROCS in the environment, which is after argc, argv and a null.
	MOVQ	0(SP), CX
	LEAQ	16(SP)(CX*8), SI
	MOVQ	$0x4f525058414d4f47, DX // "GOMAXPRO"

variable:
	MOVQ	(SI), AX
	ADDQ	$8, SI
	TESTQ	AX, AX
	JEQ	one
	CMPQ	(AX), DX
	JNE	variable
	JMP	_rt0_amd64_linux(SB)

one:
	// Add it twice: move argc, argv and the null down by two words, so that SP stays aligned.
	ADDQ	$2, CX
	MOVQ	SP, SI
	LEAQ	-16(SP), SP
	MOVQ	SP, DI
	CLD
	REP; MOVSQ
	LEAQ	one<>(SB), AX
	MOVQ	AX, 0(DI)
	MOVQ	AX, 8(DI)
	MOVB	$1, ·oneProcessor(SB)
	JMP	_rt0_amd64_linux(SB)

// Dpl_nothing handles a signal, and dpl_return continues after it.
TEXT dpl_nothing(SB),NOSPLIT|NOFRAME,$0
	RET

TEXT dpl_return(SB),NOSPLIT|NOFRAME,$0
	MOVL	$SYS_rt_sigreturn, AX
	SYSCALL
	INT	$3

// Dpl_keep is keep in package start. All signals are blocked, and the stack is as at dpl_entry.
TEXT dpl_keep(SB),NOSPLIT|NOFRAME,$0
	// close_range(GATE+1, ~0, 0); before Linux 5.9, leave everything to package start
	MOVL	$SYS_close_range, AX
	MOVL	$(GATE+1), DI
	MOVL	$-1, SI
	XORL	DX, DX
	SYSCALL
	TESTQ	AX, AX
	JNE	runtime

	// prctl(PR_SET_NAME, argv[0])
	MOVL	$SYS_prctl, AX
	MOVL	$PR_SET_NAME, DI
	MOVQ	8(SP), SI
	SYSCALL

	// prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	MOVL	$SYS_prctl, AX
	MOVL	$PR_SET_CHILD_SUBREAPER, DI
	MOVL	$1, SI
	XORL	DX, DX
	XORL	R10, R10
	XORL	R8, R8
	SYSCALL
	TESTQ	AX, AX
	JNE	say

	// A fork, not a vfork: the keeper is so small that this is faster than waiting for the execve.
	MOVL	$SYS_getpid, AX
	SYSCALL
	MOVQ	AX, R12
	MOVL	$SYS_clone, AX
	MOVL	$SIGCHLD, DI
	XORL	SI, SI
	XORL	DX, DX
	XORL	R10, R10
	XORL	R8, R8
	SYSCALL
	TESTQ	AX, AX
	JEQ	stage
	MOVQ	AX, R13
	JGT	close

say:
	// write(GATE, {-errno}, 8)
	MOVQ	AX, -16(SP)
	MOVL	$SYS_write, AX
	MOVL	$GATE, DI
	LEAQ	-16(SP), SI
	MOVL	$8, DX
	SYSCALL

close:
	// close(GATE)
	MOVL	$SYS_close, AX
	MOVL	$GATE, DI
	SYSCALL

	// pidfd_open(stage, 0), because others open theirs in half the time while there is one
	MOVL	$SYS_pidfd_open, AX
	MOVQ	R13, DI
	XORL	SI, SI
	SYSCALL

	CMPQ	0(SP), $9
	JNE	wait

await:
	// waitid(P_ALL, 0, siginfo, WEXITED|WNOWAIT, nil), until the stage has ended
	MOVL	$SYS_waitid, AX
	MOVL	$P_ALL, DI
	XORL	SI, SI
	LEAQ	-256(SP), DX
	MOVL	$(WEXITED|WNOWAIT), R10
	XORL	R8, R8
	SYSCALL
	CMPQ	AX, $-EINTR
	JEQ	await
	TESTQ	AX, AX
	JNE	wait
	MOVLQSX	(siPID-256)(SP), DI
	CMPQ	DI, R13
	JEQ	ended

	// wait4(pid, nil, 0, nil)
	MOVL	$SYS_wait4, AX
	XORL	SI, SI
	XORL	DX, DX
	XORL	R10, R10
	SYSCALL
	JMP	await

ended:
	// rt_sigpending(SP-16, 8); argv[7] becomes "1" if TERM or HUP is pending
	MOVL	$SYS_rt_sigpending, AX
	LEAQ	-16(SP), DI
	MOVL	$8, SI
	SYSCALL
	TESTQ	$(1<<(SIGTERM-1) | 1<<(SIGHUP-1)), -16(SP)
	JEQ	quiet
	MOVQ	64(SP), DI
	MOVB	$'1', (DI)

quiet:
	// rt_sigaction(15 to 1, {SIG_IGN}, nil, 8) forgets what is pending: the runtime would let it
	// through, though it is blocked
	MOVL	$SIGTERM, R14
	MOVQ	$SIG_IGN, -64(SP)
	MOVQ	$0, -56(SP)
	MOVQ	$0, -48(SP)
	MOVQ	$0, -40(SP)

ignore:
	MOVL	$SYS_rt_sigaction, AX
	MOVL	R14, DI
	LEAQ	-64(SP), SI
	XORL	DX, DX
	MOVL	$8, R10
	SYSCALL
	DECL	R14
	JNE	ignore

	// execve("/proc/self/exe", &argv[5], environment): see end in package start
	MOVL	$SYS_execve, AX
	LEAQ	self<>(SB), DI
	LEAQ	48(SP), SI
	LEAQ	88(SP), DX
	SYSCALL

wait:
	// wait4(-1, nil, 0, nil), until no child is left
	MOVL	$SYS_wait4, AX
	MOVQ	$-1, DI
	XORL	SI, SI
	XORL	DX, DX
	XORL	R10, R10
	SYSCALL
	TESTQ	AX, AX
	JGE	wait
	CMPQ	AX, $-EINTR
	JEQ	wait
	XORL	DI, DI
	JMP	exit

stage:
	MOVL	$SYS_setsid, AX
	SYSCALL
	MOVL	$SYS_prctl, AX
	MOVL	$PR_SET_PDEATHSIG, DI
	MOVL	$SIGKILL, SI
	SYSCALL
	MOVL	$SYS_getppid, AX
	SYSCALL
	CMPQ	AX, R12
	JNE	orphan

	// write(GATE, {pid}, 8), as the leader of a session that dies with the keeper
	MOVL	$SYS_getpid, AX
	SYSCALL
	MOVQ	AX, -16(SP)
	MOVL	$SYS_write, AX
	MOVL	$GATE, DI
	LEAQ	-16(SP), SI
	MOVL	$8, DX
	SYSCALL

	// execve("/proc/self/exe", &argv[2], {nil}); the nil is the new end of argv
	MOVQ	$0, 48(SP)
	MOVL	$SYS_execve, AX
	LEAQ	self<>(SB), DI
	LEAQ	24(SP), SI
	LEAQ	48(SP), DX
	SYSCALL

orphan:
	MOVL	$1, DI

exit:
	MOVL	$SYS_exit_group, AX
	SYSCALL
	INT	$3
	JMP	exit

runtime:
	JMP	_rt0_amd64_linux(SB)

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
