// xstate.c lets linux.uml run on processors with AMX, which have more registers than it knows.
//
// It is loaded into linux.uml (LD_PRELOAD). Linux.uml reads and writes the first 2696 bytes of the
// extended registers of a process, but the kernel only accepts a write of all of them. So this
// ptrace reads all of them, overwrites the first bytes, and writes all of them.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>

long ptrace(enum __ptrace_request request, ...)
{
	static long (*real)(enum __ptrace_request, ...);
	static char all[1 << 16];
	struct iovec *given, whole = {all, sizeof all};
	va_list arguments;
	va_start(arguments, request);
	pid_t pid = va_arg(arguments, pid_t);
	void *address = va_arg(arguments, void *);
	void *data = va_arg(arguments, void *);
	va_end(arguments);
	if (!real)
		real = (long (*)(enum __ptrace_request, ...))dlsym(RTLD_NEXT, "ptrace");
	given = data;
	if (request != PTRACE_SETREGSET || (long)address != NT_X86_XSTATE ||
	    real(PTRACE_GETREGSET, pid, address, &whole) || given->iov_len >= whole.iov_len)
		return real(request, pid, address, data);
	memcpy(all, given->iov_base, given->iov_len);
	return real(request, pid, address, &whole);
}
