# safe-call.mk: make a target with a call: make -f safe-call.mk
#
# The call ends when $(COMMAND) ends, when $(LIMIT) is over, or when the operation fails elsewhere,
# whichever comes first. Under `dpl-run -- make -f safe-call.mk` all calls belong to one operation;
# otherwise each starts its own.
COMMAND ?= ./compile
LIMIT   ?= 30s

result:
	@dpl-run --timeout $(LIMIT) -- $(COMMAND) $@ || { case $$? in \
		124) echo "$@: too late" ;; \
		3|4|5) echo "$@: stopped, because the operation failed" ;; \
		*) echo "$@: $(COMMAND) failed" ;; \
		esac >&2; rm -f $@; exit 1; }
