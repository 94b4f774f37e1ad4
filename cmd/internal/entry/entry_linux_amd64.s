#include "textflag.h"

#define SYS_writev 20
#define SYS_exit_group 231
#define SYS_prlimit64 302
#define SYS_fcntl 72

#define RLIMIT_AS 9
#define F_GETFD 1
#define least 1536000000 // 1500000 KiB

// The stack has argc at 0(SP), and then argv. What is below it is free: nothing of Go runs yet.
TEXT dpl_entry(SB),NOSPLIT|NOFRAME,$0
	// prlimit64(0, RLIMIT_AS, nil, SP-16)
	MOVL	$SYS_prlimit64, AX
	XORL	DI, DI
	MOVL	$RLIMIT_AS, SI
	XORL	DX, DX
	LEAQ	-16(SP), R10
	SYSCALL
	TESTQ	AX, AX
	JNE	begin
	MOVQ	$least, CX
	CMPQ	-16(SP), CX
	JCS	refuse

begin:
	// fcntl(1, F_GETFD)
	MOVL	$SYS_fcntl, AX
	MOVL	$1, DI
	MOVL	$F_GETFD, SI
	SYSCALL
	TESTQ	AX, AX
	JGE	open
	MOVB	$1, ·stdoutClosed(SB)

open:
	JMP	_rt0_amd64_linux(SB)

refuse:
	// BX gets argv[0] behind its last slash, CX its end.
	LEAQ	noname<>(SB), CX
	CMPQ	0(SP), $0
	JEQ	named
	MOVQ	8(SP), CX

named:
	MOVQ	CX, BX

next:
	MOVBLZX	(CX), AX
	INCQ	CX
	TESTB	AX, AX
	JEQ	end
	CMPB	AX, $'/'
	JNE	next
	MOVQ	CX, BX
	JMP	next

end:
	DECQ	CX
	SUBQ	BX, CX

	// writev(2, {name, message}, 2)
	MOVQ	BX, -32(SP)
	MOVQ	CX, -24(SP)
	LEAQ	message<>(SB), AX
	MOVQ	AX, -16(SP)
	MOVQ	$100, -8(SP)
	MOVL	$SYS_writev, AX
	MOVL	$2, DI
	LEAQ	-32(SP), SI
	MOVL	$2, DX
	SYSCALL

	// exit_group(74), of dpl-run 125
	MOVL	$74, DI
	MOVQ	$0x006e75722d6c7064, CX // "dpl-run"
	CMPQ	(BX), CX
	JNE	exit
	MOVL	$125, DI

exit:
	MOVL	$SYS_exit_group, AX
	SYSCALL
	INT	$3
	JMP	exit

DATA message<>+0(SB)/8, $": the ad"
DATA message<>+8(SB)/8, $"dress sp"
DATA message<>+16(SB)/8, $"ace is l"
DATA message<>+24(SB)/8, $"imited t"
DATA message<>+32(SB)/8, $"oo far f"
DATA message<>+40(SB)/8, $"or the r"
DATA message<>+48(SB)/8, $"untime o"
DATA message<>+56(SB)/8, $"f Go: ra"
DATA message<>+64(SB)/8, $"ise that"
DATA message<>+72(SB)/8, $" to 1500"
DATA message<>+80(SB)/8, $"000, wit"
DATA message<>+88(SB)/8, $"h ulimit"
DATA message<>+96(SB)/4, $" -v\n"
GLOBL message<>(SB), RODATA|NOPTR, $100

DATA noname<>+0(SB)/8, $"dpl\x00\x00\x00\x00\x00"
GLOBL noname<>(SB), RODATA|NOPTR, $8
