// Limit makes one edit of an operation file with the system calls of dpl-heartbeat and nothing
// else: the least time that a heartbeat can take. It has no Go runtime and no parser, does not
// identify its own process, and does not check whether other participants are alive.
//
//	limit LEDGER FILE CALL [dir]
//
// FILE is in LEDGER/operations. With "dir" it also fsyncs the directory, as dpl-push and dpl-pop
// do.

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

static void must(int ok, const char *what) {
	if (!ok) {
		perror(what);
		exit(1);
	}
}

static char *path(const char *format, ...) {
	char *s;
	va_list list;
	va_start(list, format);
	must(vasprintf(&s, format, list) >= 0, "vasprintf");
	va_end(list);
	return s;
}

// open_ledger makes the system calls that dpl-heartbeat makes before it takes the lock.
static void open_ledger(const char *ledger) {
	char text[4096];
	struct stat st;
	struct statfs fs;
	int fd = open(path("%s/ledger.json", ledger), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	must(fd >= 0 && fstat(fd, &st) == 0 && read(fd, text, sizeof text) > 0, "ledger.json");
	close(fd);
	must(statfs(ledger, &fs) == 0 && stat(ledger, &st) == 0, ledger);
	must(lstat(path("%s/operations", ledger), &st) == 0, "operations");
}

static int take_lock(const char *file) {
	char *name = path("%s.lock", file);
	struct stat held, there;
	int fd = open(name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	must(fd >= 0, name);
	must(flock(fd, LOCK_EX) == 0, "flock");
	must(fstat(fd, &held) == 0 && lstat(name, &there) == 0 && held.st_ino == there.st_ino, "lock");
	return fd;
}

static char *read_file(const char *file, size_t *size) {
	struct stat st;
	int fd = open(file, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	must(fd >= 0 && fstat(fd, &st) == 0, file);
	char *text = malloc(st.st_size + 1);
	*size = 0;
	for (ssize_t n; (n = read(fd, text + *size, st.st_size + 1 - *size)) > 0;)
		*size += n;
	close(fd);
	return text;
}

// heartbeat overwrites the time of the last heartbeat of call. All times have the same length.
static void heartbeat(char *text, size_t size, const char *call) {
	char now[64];
	struct timespec ts;
	struct tm tm;
	clock_gettime(CLOCK_REALTIME, &ts);
	gmtime_r(&ts.tv_sec, &tm);
	size_t n = strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%S", &tm);
	n += snprintf(now + n, sizeof now - n, ".%03ldZ", ts.tv_nsec / 1000000);

	char *frame = path("\"callId\": \"%s\"", call), *member = "\"lastHeartbeat\": \"";
	char *at = memmem(text, size, frame, strlen(frame));
	must(at != NULL, frame);
	at = memmem(at, text + size - at, member, strlen(member));
	must(at != NULL, member);
	memcpy(at + strlen(member), now, n);
}

int main(int argc, char **argv) {
	must(argc >= 4, "usage: limit LEDGER FILE CALL [dir]");
	open_ledger(argv[1]);
	char *dir = path("%s/operations", argv[1]), *file = path("%s/%s", dir, argv[2]);
	char *temp = path("%s.tmp~%d", file, getpid());

	int lock = take_lock(file);
	int out = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	must(out >= 0, temp);

	size_t size;
	char *text = read_file(file, &size);
	heartbeat(text, size, argv[3]);
	must(write(out, text, size) == (ssize_t)size && fsync(out) == 0 && close(out) == 0, temp);

	struct stat st;
	int d = argc > 4 ? open(dir, O_RDONLY | O_NOFOLLOW | O_CLOEXEC) : -1;
	must(lstat(file, &st) == 0 && rename(temp, file) == 0, "rename");
	if (d >= 0)
		must(fsync(d) == 0 && close(d) == 0, dir);

	must(flock(lock, LOCK_UN) == 0 && close(lock) == 0, "unlock");
	return 0;
}
