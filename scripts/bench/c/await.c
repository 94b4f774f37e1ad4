// Await waits with inotify until a file in a directory is replaced, and reads it: the least time
// that a wait can take. Much of that is the kernel's: when the exit closes an inotify descriptor
// that has a watch, the kernel waits for a grace period.
//
//	await DIR NAME

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

static char events[1 << 16];

int main(int argc, char **argv) {
	int fd = inotify_init1(IN_CLOEXEC);
	if (argc != 3 || fd < 0 || inotify_add_watch(fd, argv[1], IN_MOVED_TO) < 0) {
		perror("usage: await DIR NAME");
		return 1;
	}
	for (ssize_t n; (n = read(fd, events, sizeof events)) > 0;)
		for (char *at = events; at < events + n;) {
			struct inotify_event *e = (struct inotify_event *)at;
			if (e->len > 0 && strcmp(e->name, argv[2]) == 0) {
				FILE *f = chdir(argv[1]) == 0 ? fopen(argv[2], "r") : NULL;
				return f == NULL || fread(events, 1, sizeof events, f) == 0;
			}
			at += sizeof *e + e->len;
		}
	perror("inotify");
	return 1;
}
