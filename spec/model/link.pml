/*
 * The commit by link (design §7). The newest of the names {file}.0, {file}.1, … is the state of an operation; {file} is a hint.
 *
 * There is no lock here: on a shared file system it may be lost at any time without notice, so it must not matter.
 * A client may pause at any step for ever, which is also how it crashes. Each makes one edit; the process others stands for
 * everybody else.
 * A pruner may remove a link as soon as it is not among the newest K: clients pause longer than any age it waits for.
 *
 * A file is identified by who made it: nobody makes two files for the same name, as it starts over at a higher one.
 */
#ifndef N
#define N 3         /* clients; with READER one of them only reads */
#endif
#ifndef MAX
#define MAX 3       /* the highest revision */
#endif
#ifndef K
#define K 1         /* how many of the newest links are never pruned */
#endif

byte file[MAX + 2]; /* {file}.r: 0, or the identity of the file, with TOMB if it is that of revision r-1 */
byte hint;          /* the revision in {file}, 0: no such file */
byte hinted;        /* which file it is */
byte archived;      /* the highest revision in archive/ */

/* What really happened, which no client knows. */
byte first[MAX + 2]; /* the file that had the name first */
bit sound[MAX + 2];  /* it was made from the first of the name before, and so on down */
byte acked;          /* the highest revision that was acknowledged */

#define TOMB 8
#define OTHERS (N + 1)
#define SAME(name, id) (file[name] == (id) && (id) != 0)

/* list: the highest name counts, unless it is a stray: not above what is archived. */
inline list(top) {
	top = MAX;
	do
	:: top > 0 && (file[top] == 0 || top <= archived) -> top--
	:: else -> break
	od
}

/* link: name gets the file id; the caller has seen that it is free. */
inline link(name, id, from) {
	file[name] = id;
	if
	:: first[name] == 0 ->
		first[name] = id;
		sound[name] = (name == 0 || from == first[name - 1] && sound[name - 1])
	:: else
	fi
}

/*
 * look finds the newest revision n and its file. It begins at the hint, which counts only if it is the file .n, and goes up
 * from there. That .n is still there at the end says that nothing above it was pruned meanwhile.
 */
inline look() {
	atomic {
		n = hint; base = hinted; from = n; start = base
	};
#ifdef BUG_EARLY_CHECK
	atomic {
		if
		:: n && !SAME(n, base) -> n = 0; from = 0; start = 0
		:: else
		fi
	};
#endif
	do
	:: n && n <= MAX && file[n + 1] -> n++
	:: else -> break
	od;
	if
	:: n > from -> base = file[n]  /* reads the newest; 0 if it is gone */
	:: else
	fi;
	atomic {
		if
#ifdef BUG_EARLY_CHECK
		:: n && base
#elif defined BUG_TRUST_HINT
		:: n && base
#elif defined BUG_HINT_EXISTS
		:: n && base && file[from]
#else
		:: n && base && SAME(from, start)
#endif
		:: else -> list(n); base = file[n]
		fi;
		from = 0; start = 0
	}
}

proctype reader() {
	byte n, base, from, start, was;

	was = acked;
	look();
	atomic {
		assert((n == 0 -> archived : n - (base >= TOMB)) >= was);
		assert(n == 0 || base == first[n])
	}
}

proctype writer(byte me) {
	byte n, base, from, start;

again:
	look();
	atomic {
		if
		:: n < MAX && base == 0 -> goto birth
#ifdef ARCHIVE
		:: n < MAX && base && n > 0 && base < TOMB -> goto archive
#endif
		:: n < MAX && base >= TOMB && n > archived + 1 -> goto finish
		:: n < MAX && base && (n == 0 || base < TOMB || n <= archived + 1)
		:: n >= MAX -> n = 0; base = 0; goto again
		fi
	};

	/* link the next revision */
	atomic {
		if
#ifdef BUG_RENAME
#else
		:: file[n + 1] -> n = 0; base = 0; goto again
#endif
		:: else -> link(n + 1, me, base)
		fi
	};
	/* its base must still be there */
	atomic {
		if
#ifdef BUG_NO_CHECK
#elif defined BUG_EXISTS
		:: file[n] == 0 -> base = 0
#else
		:: !SAME(n, base) -> base = 0
#endif
		:: else
		fi
	};
	atomic {
		if
		:: base == 0 -> /* late: a stray is left, which the pruner will find */
#ifdef BUG_UNDO
			if
			:: file[n + 1] == me -> file[n + 1] = 0
			:: else
			fi;
#endif
			n = 0;
			goto again
		:: else -> hint = n + 1; hinted = me
		fi
	};
	atomic {
		assert(first[n + 1] == me && sound[n + 1]);
		if
		:: n + 1 > acked -> acked = n + 1
		:: else
		fi;
		goto done
	};

birth:
	/* link an empty file as .0, whose loss tells a late first commit that it is late */
	atomic {
		if
		:: file[0] == 0 -> link(0, me, 0)
		:: else
		fi;
		n = 0;
		goto again
	};

archive:
	/* link(.n, .n+1): the source must exist, but could be a stray by now */
	atomic {
		if
		:: file[n] == 0 || file[n + 1] -> n = 0; base = 0; goto again
		:: else -> link(n + 1, file[n] | TOMB, file[n]); n++
		fi
	};
	atomic {
		if
#ifndef BUG_TOMB_UNCHECKED
		:: file[n] != (base | TOMB) -> n = 0; base = 0; goto again
#endif
		:: else -> base = 0
		fi
	};
finish:
	atomic {
		base = 0;
		if
		:: n > archived + 1 ->
			archived = n - 1;
			assert(first[n] >= TOMB && sound[n])
		:: else
		fi;
		n = 0
	};
	atomic {
		hint = 0; hinted = 0
	};
done:
	skip
}

/* Everybody else, who is never paused: each step is a whole edit, or a pruner's removal of one link. */
active proctype others() {
	byte n, r;

	do
	:: atomic { /* commit */
		list(n);
		if
		:: n < MAX && file[n] && (file[n] < TOMB || n == archived + 1) ->
			link(n + 1, OTHERS, file[n]);
			n++;
			acked = n;
			if
			:: hint = n; hinted = OTHERS
			:: true /* died before */
			fi
		:: else
		fi;
		n = 0
	   }
	:: atomic { /* prune the lowest; of an archived operation all but the tombstone */
		list(n);
		if
		:: file[n] >= TOMB && n == archived + 1
		:: else -> n = (n + 1 > K -> n + 1 - K : 0)
		fi;
#ifdef BUG_DESCENDING
		r = n;
		do
		:: r > 0 && file[r - 1] == 0 -> r--
		:: else -> break
		od;
		if
		:: r > 0 -> r--; file[r] = 0
		:: else
		fi;
#else
		do
		:: r < n && file[r] == 0 -> r++
		:: else -> break
		od;
		if
		:: r < n -> file[r] = 0
		:: else
		fi;
#endif
		n = 0; r = 0
	   }
	od
}

init {
	byte i;
	atomic {
#ifdef READER
		run reader();
		for (i : 2 .. N) {
#else
		for (i : 1 .. N) {
#endif
			run writer(i)
		}
	}
}
