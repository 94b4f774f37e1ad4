# dpl.mk: each line of a recipe becomes a call of an operation. For GNU make 4.
#
#     include /usr/local/share/dpl/dpl.mk
#     .SHELLFLAGS = $(dpl_call)             # for all targets; for some of them:
#     # main.o main: private .SHELLFLAGS = $(dpl_call)
#
#     main: main.o
#     	./link main.o
#     main.o: main.c
#     	./compile main.c "$$DPL_TMP/main.o" && mv "$$DPL_TMP/main.o" $@
#
#     $ dpl-run -- make -j4                 # one operation: when one recipe fails, or is killed, the others get TERM
#     $ make -j4                            # each call is an operation of its own
#
# dpl-run runs each line, or under .ONESHELL the whole recipe, as a call of $DPL_OP. The participant
# has the name of the target, with - for characters that an id cannot have. Each call has a new id,
# so make -j and recursive makes work. make sees the status of the line: 3 if it was stopped because
# the operation failed elsewhere. The shell is $(SHELL), with the .SHELLFLAGS from before the include.
# $(DPL_RUN_FLAGS) are flags of dpl-run, such as --timeout 10m, for all targets or for one.
#
# The lines below are a comment only for make: through .SHELLFLAGS the shell runs this file, as dpl.mk
# TARGET [FLAG...] -- SHELL FLAG... LINE, because under .ONESHELL a word of .SHELLFLAGS cannot have a
# space in it. \
id=$(printf %s "$1" | LC_ALL=C tr -c A-Za-z0-9._: - | sed 's/^[._:-]*//; s/-$//; s/\.\./--/g; s/.*\(.\{60\}\)$/\1/; s/^[._:-]*//'); \
shift; \
exec dpl-run --participant "${id:-target}" "$@"

ifeq ($(shell command -v dpl-run),)
$(error dpl.mk: no dpl-run in PATH: install DPL, or add its directory to PATH)
endif

dpl_file  := $(abspath $(lastword $(MAKEFILE_LIST)))
dpl_flags := $(.SHELLFLAGS)
dpl_space := $() $()
dpl_word   = '$(subst ',-,$(subst $(dpl_space),-,$1))'

# $(shell) uses .SHELLFLAGS as well, but has no target.
dpl_call = $(if $@,$(dpl_file) $(call dpl_word,$@) $(DPL_RUN_FLAGS) -- $(SHELL)) $(dpl_flags)
