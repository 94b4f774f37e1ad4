// Beanstalk is a client of beanstalkd for one command.
//
//	beanstalk SOCKET TUBE put|fill N|take|poll|hold
//
// put adds a task, and fill N of them. take takes one and removes it, and waits for one if there is
// none; poll does not wait, and exits 1. hold takes one and stays.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static FILE *server;
static char line[512];

static void ask(const char *command, const char *want) {
	if (fputs(command, server) < 0 || fflush(server) != 0 || !fgets(line, sizeof line, server) ||
	    strncmp(line, want, strlen(want)) != 0) {
		if (strcmp(line, "TIMED_OUT\r\n") != 0)
			fprintf(stderr, "beanstalk: %s: %s\n", command, line);
		exit(1);
	}
}

int main(int argc, char **argv) {
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (argc < 4) {
		fprintf(stderr, "usage: beanstalk SOCKET TUBE put|fill N|take|poll|hold\n");
		return 1;
	}
	strncpy(to.sun_path, argv[1], sizeof to.sun_path - 1);
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) != 0) {
		perror(argv[1]);
		return 1;
	}
	server = fdopen(fd, "r+");
	setvbuf(server, NULL, _IOFBF, 1 << 12);

	char command[300];
	int put = strcmp(argv[3], "put") == 0, adds = put || strcmp(argv[3], "fill") == 0;
	snprintf(command, sizeof command, "%s %s\r\n", adds ? "use" : "watch", argv[2]);
	ask(command, adds ? "USING" : "WATCHING");
	if (adds) {
		for (int left = put ? 1 : atoi(argv[4]); left > 0; left--)
			ask("put 0 0 600 17\r\n{\"argv\":[\"true\"]}\r\n", "INSERTED");
		return 0;
	}

	ask(strcmp(argv[3], "poll") == 0 ? "reserve-with-timeout 0\r\n" : "reserve\r\n", "RESERVED");
	long id = atol(line + strlen("RESERVED "));
	if (!fgets(command, sizeof command, server))
		return 1;
	if (strcmp(argv[3], "hold") == 0) {
		printf("%ld\n", id);
		fflush(stdout);
		pause();
	}
	snprintf(command, sizeof command, "delete %ld\r\n", id);
	ask(command, "DELETED");
	return 0;
}
