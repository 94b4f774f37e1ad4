# safe-call.mk: a target that is made by a call: make -f safe-call.mk
#
# Whatever comes first ends the call: $(COMMAND) itself, $(LIMIT), or a failure of the operation anywhere else. Under
# `dpl-run -- make -f safe-call.mk` all calls are of one operation; else each begins its own.
COMMAND ?= ./compile
LIMIT   ?= 30s

result:
	@dpl-run --timeout $(LIMIT) -- $(COMMAND) $@ || { case $$? in \
		124) echo "$@: too late" ;; \
		3|4|5) echo "$@: stopped, for the operation has failed" ;; \
		*) echo "$@: $(COMMAND) failed" ;; \
		esac >&2; rm -f $@; exit 1; }
