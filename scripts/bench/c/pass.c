// Pass stats and reads all operation files of a ledger, and does nothing with them: the least time
// that a pass over operations without changes can take.
//
//	pass LEDGER

#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char text[1 << 20];

int main(int argc, char **argv) {
	if (argc != 2 || chdir(argv[1]) != 0 || chdir("operations") != 0) {
		perror("usage: pass LEDGER");
		return 1;
	}
	DIR *dir = opendir(".");
	if (dir == NULL) {
		perror("operations");
		return 1;
	}
	for (struct dirent *e; (e = readdir(dir)) != NULL;) {
		size_t n = strlen(e->d_name);
		if (n < 5 || strcmp(e->d_name + n - 5, ".json") != 0)
			continue;
		struct stat st;
		int fd = open(e->d_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0 || fstat(fd, &st) != 0 || read(fd, text, sizeof text) < st.st_size) {
			perror(e->d_name);
			return 1;
		}
		close(fd);
	}
	return 0;
}
