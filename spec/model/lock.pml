/*
 * The lock of an operation (spec §2.3): a lock file that a push creates and an archiving edit
 * removes.
 *
 * Inodes are numbered; path is the inode of the lock file. A client may be killed at any step; the
 * kernel then releases its lock. A sweeper makes an edit that changes nothing, which removes a
 * leftover lock file.
 *
 * With REMOVER, somebody removes the lock file once, without the lock. Then two clients can edit at the
 * same time, and the comparison before the rename, which is made in one step with it here, keeps one
 * of them out.
 */
#ifndef N
#define N 3
#endif
#ifndef ROUNDS
#define ROUNDS 1 /* edits of a client before it ends, so that waiting forever is a deadlock */
#endif
#define FILES (N + 1) /* an inode is reused once no client has it open */

byte path;               /* the inode of the lock file, 0: there is none */
byte holder[FILES + 1];  /* the client that holds the lock of an inode, 0: none */
byte opened[FILES + 1];  /* the number of clients that have it open */
byte revision;           /* of the operation */
bit exists;              /* the operation file exists */
byte acked;              /* the number of acknowledged edits of this operation */
byte editing;            /* the number of clients between their read and the end of their edit */

#define CRASH goto died

#ifdef REMOVER
#define ONE_EDITS false
#else
#define ONE_EDITS true
#endif
#if defined(REMOVER) && !defined(BUG_NO_SECOND_CHECK)
#define HELD (fd == path)
#define COMPARE if \
	:: !HELD -> editing--; holder[fd] = 0; opened[fd]--; fd = 0; read = 0; goto open \
	:: else \
	fi
#else
#define HELD true
#define COMPARE skip
#endif

proctype client(byte me) {
	byte fd, read, rounds;
	bit pushes;

again:
	atomic {
		if
		:: rounds == ROUNDS -> goto done
		:: rounds < ROUNDS -> rounds++
		fi;
		if
		:: pushes = 1
		:: pushes = 0
		fi
	};
open:
	atomic {
		if
		:: path != 0 -> fd = path
		:: path == 0 && (pushes || exists) ->
			fd = 1;
			do
			:: opened[fd] || holder[fd] -> fd++
			:: else -> break
			od;
			path = fd
		:: else -> pushes = 0; goto again /* no such operation */
		fi;
		opened[fd]++
	};
	/* The kernel wakes a waiting client. */
wait:	atomic {
		holder[fd] == 0 -> holder[fd] = me
	};
#ifndef BUG_NO_INODE_CHECK
	if
	:: fd != path -> atomic { holder[fd] = 0; opened[fd]--; fd = 0; goto open }
	:: else
	fi;
#endif
	atomic {
		read = revision;
		editing++;
		if
		:: !exists -> goto refused /* also a push, for another reason */
		:: exists && revision > 0 -> goto archive
		:: !exists && pushes
		:: exists && revision < 3
		:: CRASH
		fi
	};
	/* Rename. */
	atomic {
		COMPARE;
		assert(editing == 1 || !ONE_EDITS);
		assert(read == revision);
		revision = read + 1;
		exists = 1
	};
	atomic {
		if
		:: CRASH
		:: acked++; assert(acked <= revision || !ONE_EDITS); editing--; goto unlock
		fi
	};
refused:
	if
	:: CRASH
#ifdef BUG_REMOVE_AFTER_UNLOCK
	:: !exists -> atomic { editing--; holder[fd] = 0 }; path = 0; goto closed
#else
	:: atomic {
		!exists || !HELD ->
		if
		:: HELD -> path = 0
		:: else
		fi;
		editing--;
		goto unlock
	}
#endif
	fi;
archive:
	atomic {
		COMPARE;
		assert(editing == 1 || !ONE_EDITS);
		assert(read == revision);
		exists = 0; revision = 0; acked = 0
	};
#ifdef BUG_REMOVE_AFTER_UNLOCK
	atomic { editing--; holder[fd] = 0 };
	path = 0;
	goto closed;
#else
	if
	:: CRASH
	:: atomic {
		if
		:: HELD -> path = 0
		:: else
		fi;
		editing--
	}
	fi;
#endif
unlock:
	holder[fd] = 0;
closed:
	atomic { opened[fd]--; fd = 0; read = 0; goto again };
died:
	atomic {
		editing--;
#ifndef BUG_LOCK_KEPT
		holder[fd] = 0;
#endif
		opened[fd]--; fd = 0; read = 0;
		goto again
	};
done:
	skip
}

#ifdef BUG_REMOVE_UNLOCKED
/* A sweeper that removes a lock file after it saw one, without the lock. */
active proctype sweeper() {
end:	do
	:: path != 0 && !exists -> path = 0
	od
}
#endif

#ifdef REMOVER
active proctype remover() {
	path = 0
}
#endif

init {
	byte i;
	atomic {
		if
		:: exists = 1; revision = 1; path = FILES
		:: path = FILES /* left by a killed client */
		:: true
		fi;
		for (i : 1 .. N) {
			run client(i)
		}
	}
}
