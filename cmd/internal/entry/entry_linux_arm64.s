#include "textflag.h"

#define SYS_writev 66
#define SYS_exit_group 94
#define SYS_prlimit64 261
#define SYS_fcntl 25

#define RLIMIT_AS 9
#define F_GETFD 1
#define least 1536000000 // 1500000 KiB

// The stack has argc at 0(RSP), and then argv. What is below it is free: nothing of Go runs yet.
TEXT dpl_entry(SB),NOSPLIT|NOFRAME,$0
	// prlimit64(0, RLIMIT_AS, nil, RSP-16)
	MOVD	$SYS_prlimit64, R8
	MOVD	$0, R0
	MOVD	$RLIMIT_AS, R1
	MOVD	$0, R2
	SUB	$16, RSP, R3
	SVC
	CBNZ	R0, begin
	MOVD	(R3), R1
	MOVD	$least, R2
	CMP	R2, R1
	BLO	refuse

begin:
	// fcntl(1, F_GETFD)
	MOVD	$SYS_fcntl, R8
	MOVD	$1, R0
	MOVD	$F_GETFD, R1
	SVC
	CMP	$0, R0
	BGE	open
	MOVD	$1, R1
	MOVB	R1, ·stdoutClosed(SB)

open:
	B	_rt0_arm64_linux(SB)

refuse:
	// R4 gets argv[0] behind its last slash, R5 its end.
	MOVD	$noname<>(SB), R5
	MOVD	0(RSP), R0
	CBZ	R0, named
	MOVD	8(RSP), R5

named:
	MOVD	R5, R4

next:
	MOVBU	(R5), R0
	ADD	$1, R5
	CBZ	R0, end
	CMP	$'/', R0
	BNE	next
	MOVD	R5, R4
	B	next

end:
	SUB	$1, R5
	SUB	R4, R5

	// writev(2, {name, message}, 2)
	SUB	$32, RSP, R1
	MOVD	R4, (R1)
	MOVD	R5, 8(R1)
	MOVD	$message<>(SB), R0
	MOVD	R0, 16(R1)
	MOVD	$100, R0
	MOVD	R0, 24(R1)
	MOVD	$SYS_writev, R8
	MOVD	$2, R0
	MOVD	$2, R2
	SVC

	// exit_group(74), of dpl-run 125
	MOVD	$74, R0
	MOVD	(R4), R1
	MOVD	$0x006e75722d6c7064, R2 // "dpl-run"
	CMP	R2, R1
	BNE	exit
	MOVD	$125, R0

exit:
	MOVD	$SYS_exit_group, R8
	SVC
	BRK
	B	exit

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
