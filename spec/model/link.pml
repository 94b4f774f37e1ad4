/*
 * The commit by link (spec §17): the last of the versions {file}.1, {file}.2, … is the state of an
 * operation; {file} is a hint.
 *
 * The model has no lock: on a shared file system a client may lose it at any time without notice,
 * so correctness must not depend on it. Each step of a client is one system call. A client makes
 * one edit, and may pause at any step, also forever, which is how it crashes. The process others
 * stands for all clients that do not pause. A version may be removed once it is not among the
 * newest K: clients pause for longer than a pruner waits.
 *
 * A file is identified by its revision and its maker: no client makes two files of the same
 * revision. The listing checks whether a version follows another, so K is at least 2.
 */
#ifndef N
#define N 3         /* clients; with READER the first of them only reads */
#endif
#ifndef MAX
#define MAX 4       /* the highest version */
#endif
#ifndef K
#define K 2         /* the number of newest versions that are never pruned */
#endif

/* The maker of {file}.n, 0: no such file; n = 0 stands for {file}.origin. With END it is the file
 * of revision n-1. */
byte file[MAX + 2];
byte hint;          /* the revision in {file}, 0: no such file */
byte hinted;        /* the maker of that */
byte newest;        /* the end whose copy is the newest in archive/, 0: there is none */

/* The true history, which no client knows. */
byte first[MAX + 2]; /* the file that had the name first */
byte acked;          /* the highest acknowledged version */

#define END 8
#define OTHERS (N + 1)
#ifdef BUG_NO_END
#define GONE newest /* archived by a rename of the hint */
#else
#define GONE 0
#endif
#define SAME(name, id) (file[name] == (id) && (id) != 0)

/* list sets top to the highest valid version, 0 if there is none. */
inline list(top) {
	top = MAX;
	do
	:: top > 0 && (file[top] == 0 || top < GONE ||
		file[top] < END && (top == 1 -> newest : file[top - 1] == 0)) -> top--
	:: else -> break
	od
}

/* link gives the file id the name, which is free. The first file of a name must follow the first
 * file of the name before. */
inline link(name, id, from) {
	file[name] = id;
	if
	:: first[name] == 0 ->
		first[name] = id;
		assert(name == 0 || from == first[name - 1])
	:: else
	fi
}

/*
 * look sets n to the last version, 0 if there is none, and base to its file. It starts at the hint
 * and goes up from there. If {file}.n of the hint is still the hinted file afterwards, no version
 * above it was pruned in between. Otherwise it lists the directory, in one step.
 */
inline look() {
	atomic {
		n = hint; base = hinted; from = n; start = base
	};
#ifdef BUG_EARLY_CHECK
	atomic {
		if
		:: n && !SAME(n, base) -> n = 0; base = 0; from = 0; start = 0
		:: else
		fi
	};
#endif
	do
#ifdef BUG_END_STOPS
	:: atomic { n && base < END && file[n + 1] -> n++; base = file[n] }
#else
	:: atomic { n && file[n + 1] -> n++; base = file[n] }
#endif
	:: else -> break
	od;
	atomic {
		if
#if defined(BUG_EARLY_CHECK) || defined(BUG_TRUST_HINT)
		:: n
#elif defined(BUG_HINT_EXISTS)
		:: n && file[from]
#else
		:: n && SAME(from, start)
#endif
		:: else -> list(n); base = (n -> file[n] : 0)
		fi;
		from = 0; start = 0
	}
}

#ifdef READER
proctype reader() {
	byte n, base, from, start, was;

	was = acked;
	look();
	atomic {
		assert(n >= was);
		assert(n == 0 || base == first[n]);
		n = 0; base = 0; was = 0
	}
}
#endif

proctype writer(byte me) {
	byte n, base, from, start, origin;

again:
	look();
	if
	:: n == MAX -> goto done
	:: n == 0 && origin == 0 -> goto birth
	:: n == 0 && origin -> base = origin % END; goto commit
	:: n > 0 && n < MAX && base < END -> origin = 0; goto settle
#ifdef ARCHIVE
	:: n > 0 && n < MAX && base >= END -> origin = 0; goto finish
#endif
	fi;

birth:
	/* Make the origin, which the first version follows, if it is missing, and look again. */
#ifdef BUG_NO_ORIGIN
	origin = END;
	goto again;
#else
	atomic {
		if
		:: file[0] == 0 -> link(0, me, 0)
		:: else
		fi
	};
	atomic { origin = file[0]; goto again };
#endif

settle:
	/* Make a missing hint from the version that was read. */
#ifdef BUG_SETTLE_UNCHECKED
	atomic {
		if
		:: hint == 0 && file[n] -> hint = n - (file[n] >= END); hinted = file[n] % END
		:: hint -> skip
		:: hint == 0 && file[n] == 0 -> goto done
		fi
	};
#else
	atomic {
		if
		:: hint || SAME(n, base)
		:: else -> goto done
		fi
	};
	atomic {
		if
		:: hint == 0 -> hint = n; hinted = base
		:: else
		fi
	};
#endif
#ifdef ARCHIVE
	if
	:: goto commit
	:: goto archive
	fi;
#endif

commit:
	atomic {
		if
#ifndef BUG_RENAME
		:: file[n + 1] -> n = 0; base = 0; origin = 0; goto again
#endif
		:: else -> link(n + 1, me, base)
		fi
	};
	atomic {
		if
#ifdef BUG_NO_CHECK
#elif defined BUG_EXISTS
		:: file[n] == 0 -> goto done
#else
#ifdef BUG_NO_ORIGIN
		:: n && !SAME(n, base) -> goto done
#else
		:: !SAME(n, base) -> goto done /* too late */
#endif
#endif
		:: else
		fi;
		assert(first[n + 1] == me);
		assert(base < END || newest >= n);
		if
		:: n + 1 > acked -> acked = n + 1
		:: else
		fi
	};
	atomic { hint = n + 1; hinted = me; goto done };

#ifdef ARCHIVE
archive:
	/* The source must exist, but may be another file by now. */
#ifdef BUG_NO_END
	atomic {
		if
		:: hint -> newest = n + 1; first[n + 1] = END | hinted; hint = 0; hinted = 0
		:: else
		fi;
		goto done
	};
#endif
	atomic {
		if
		:: file[n] == 0 || file[n + 1] -> n = 0; base = 0; goto again
		:: else -> link(n + 1, file[n] | END, file[n]); n++; base = base | END
		fi
	};
#ifndef BUG_END_UNCHECKED
	atomic {
		if
		:: !SAME(n, base) -> goto done
		:: else ->
			assert(first[n] == base);
			if
			:: n > acked -> acked = n
			:: else
			fi
		fi
	};
#endif

finish:
	/* Make the copy, unless one as new exists, and remove the hint. */
#ifdef BUG_HINT_DECIDES
	if
	:: hint
	:: hint == 0 -> goto finished
	fi;
#endif
	from = newest;
#ifdef BUG_ANY_COPY
	if
	:: from == n
	:: from != n ->
#else
	if
	:: from >= n
	:: from < n ->
#endif
		atomic {
			if
			:: newest != from -> from = 0; goto finish
			:: newest == from && file[n] ->
				assert(file[n] == first[n] && n > newest);
				newest = n; from = 0; goto finish
			:: newest == from && file[n] == 0 -> goto done
			fi
		}
	fi;
	atomic { hint = 0; hinted = 0; from = 0 };
finished:
	if
	:: n < MAX -> goto commit /* a new operation of this name */
	:: goto done
	fi;
#endif
done:
	atomic { n = 0; base = 0; from = 0; start = 0; origin = 0 }
}

inline copy(end) {
	if
#ifdef BUG_HINT_DECIDES
	:: hint && newest < end ->
#else
	:: newest < end ->
#endif
		assert(file[end] == first[end]);
		newest = end
	:: else
	fi
}

/* All other clients, which never pause: each step is a whole edit, or the removal of one link by a
 * pruner. */
active proctype others() {
	byte n, r;

	do
	:: atomic { /* commit */
		list(n);
		if
		:: n < MAX && !GONE ->
			if
#ifndef BUG_NO_ORIGIN
			:: n == 0 && file[0] == 0 -> link(0, OTHERS, 0)
#endif
#ifdef ARCHIVE
			:: n && file[n] >= END -> copy(n); assert(newest >= n); hint = 0; hinted = 0
#endif
			:: else
			fi;
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
#ifdef ARCHIVE
	:: atomic {
		list(n);
		if
		:: n && n < MAX && file[n] < END && !GONE ->
			if
			:: hint == 0 -> hint = n; hinted = file[n]
			:: else
			fi;
#ifdef BUG_NO_END
			newest = n + 1; first[n + 1] = END | file[n]; hint = 0; hinted = 0
#else
			link(n + 1, file[n] | END, file[n]);
			n++;
			acked = n;
			if
			:: copy(n);
				if
				:: hint = 0; hinted = 0
				:: true /* died before */
				fi
			:: true /* died before */
			fi
#endif
		:: else
		fi;
		n = 0
	   }
#endif
	:: atomic { /* prune: first the origin, then the lowest; never an end, as copies stay forever */
		list(n);
		r = (file[n] >= END && newest -> n : (n + 1 > K -> n + 1 - K : 0));
#ifdef BUG_DESCENDING
		n = r;
		do
		:: n > 0 && file[n - 1] == 0 -> n--
		:: else -> break
		od;
		if
		:: n > 0 -> file[n - 1] = 0
		:: else
		fi;
#else
		n = 0;
		do
		:: n < r && file[n] == 0 -> n++
		:: else -> break
		od;
		if
		:: n < r -> file[n] = 0
		:: else
		fi;
#endif
		n = 0; r = 0
	   }
	od
} /* unreached: endless */

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
