#include "textflag.h"

#define SYS_writev 66
#define SYS_exit_group 94
#define SYS_prlimit64 261
#define SYS_fcntl 25

#define RLIMIT_DATA 2
#define RLIMIT_AS 9
#define F_GETFD 1
#define leastSpace 1536000000 // 1500000 KiB
#define leastData 131072000 // 128000 KiB

// The stack has argc at 0(RSP), and then argv. What is below it is free: nothing of Go runs yet.
TEXT dpl_entry(SB),NOSPLIT|NOFRAME,$0
	MOVD	$space<>(SB), R6
	MOVD	$leastSpace, R7
	MOVD	$RLIMIT_AS, R1

limit:
	// prlimit64(0, R1, nil, RSP-16)
	MOVD	$SYS_prlimit64, R8
	MOVD	$0, R0
	MOVD	$0, R2
	SUB	$16, RSP, R3
	SVC
	CBNZ	R0, begin
	MOVD	(R3), R4
	CMP	R7, R4
	BLO	refuse
	CMP	$RLIMIT_DATA, R1
	BEQ	begin
	MOVD	$data<>(SB), R6
	MOVD	$leastData, R7
	MOVD	$RLIMIT_DATA, R1
	B	limit

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
	MOVD	(R6), R0
	MOVD	R0, 24(R1)
	ADD	$8, R6
	MOVD	R6, 16(R1)
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

// A message has its length before it.
DATA space<>+0(SB)/8, $100
DATA space<>+8(SB)/8, $": the ad"
DATA space<>+16(SB)/8, $"dress sp"
DATA space<>+24(SB)/8, $"ace is l"
DATA space<>+32(SB)/8, $"imited t"
DATA space<>+40(SB)/8, $"oo far f"
DATA space<>+48(SB)/8, $"or the r"
DATA space<>+56(SB)/8, $"untime o"
DATA space<>+64(SB)/8, $"f Go: ra"
DATA space<>+72(SB)/8, $"ise that"
DATA space<>+80(SB)/8, $" to 1500"
DATA space<>+88(SB)/8, $"000, wit"
DATA space<>+96(SB)/8, $"h ulimit"
DATA space<>+104(SB)/4, $" -v\n"
GLOBL space<>(SB), RODATA|NOPTR, $108

DATA data<>+0(SB)/8, $98
DATA data<>+8(SB)/8, $": the da"
DATA data<>+16(SB)/8, $"ta segme"
DATA data<>+24(SB)/8, $"nt is li"
DATA data<>+32(SB)/8, $"mited to"
DATA data<>+40(SB)/8, $"o far fo"
DATA data<>+48(SB)/8, $"r the ru"
DATA data<>+56(SB)/8, $"ntime of"
DATA data<>+64(SB)/8, $" Go: rai"
DATA data<>+72(SB)/8, $"se that "
DATA data<>+80(SB)/8, $"to 12800"
DATA data<>+88(SB)/8, $"0, with "
DATA data<>+96(SB)/8, $"ulimit -"
DATA data<>+104(SB)/2, $"d\n"
GLOBL data<>(SB), RODATA|NOPTR, $106

DATA noname<>+0(SB)/8, $"dpl\x00\x00\x00\x00\x00"
GLOBL noname<>(SB), RODATA|NOPTR, $8
