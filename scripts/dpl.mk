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
#     $ dpl-run -- make -j4                 # one operation, which fails if make fails
#     $ make -j4                            # each call is an operation of its own
#
# Makefiles that you do not want to change do not need these lines. MAKEFILES does the same for all
# their recipes, also in a make that a recipe starts:
#
#     $ MAKEFILES=/usr/local/share/dpl/dpl.mk dpl-run -- make -j4
#
# dpl-run runs each line, or under .ONESHELL the whole recipe, as a call of $DPL_OP. The participant
# has the name of the target, with - for characters that an id cannot have. Each call has a new id,
# so make -j and recursive makes work. make sees the status of the line, and decides what a failure
# means: -, -k and .IGNORE work as always. If a recipe is killed, the operation fails, and the other
# recipes and make get TERM (dpl-run --caller-decides). Processes that a recipe leaves in the
# background are stopped when it ends.
#
# The shell is $(SHELL), with the .SHELLFLAGS from before the include. A $(SHELL) that is not like
# sh runs its recipes without dpl-run. $(DPL_RUN_FLAGS) are flags of dpl-run, such as --timeout 10m,
# for all targets or for one.
#
# The lines below are a comment only for make: through .SHELLFLAGS the shell runs this file, as
# dpl.mk DPL-RUN TARGET [FLAG...] -- SHELL FLAG... LINE, because under .ONESHELL a word of
# .SHELLFLAGS cannot have a space in it. $(shell) in a recipe comes here as well: then stdout is a
# pipe that is not the stdout of make, and LINE runs without dpl-run. \
dpl_mk_run=$1 dpl_mk_id=$2; \
shift 2; \
if [ -p /dev/fd/1 ] && [ -e "/proc/$PPID/fd/1" ]; then \
	[ /dev/fd/1 -ef "/proc/$PPID/fd/1" ] || [ $? != 1 ] || dpl_mk_run=; \
fi; \
if [ -z "$dpl_mk_run" ]; then \
	while [ "$1" != -- ]; do shift; done; \
	shift; \
	exec "$@"; \
fi; \
[ ${#dpl_mk_id} -le 60 ] || dpl_mk_id=" $dpl_mk_id"; \
case $dpl_mk_id in \
*[!ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-]* | [._:-]* | *- | *..*) \
	dpl_mk_id=$(printf %s "$dpl_mk_id" | LC_ALL=C tr -c A-Za-z0-9._: - | \
		sed 's/^[._:-]*//; s/-$//; s/\.\./--/g; s/.*\(.\{60\}\)$/\1/; s/^[._:-]*//') ;; \
esac; \
exec "$dpl_mk_run" --caller-decides --participant "${dpl_mk_id:-target}" "$@"

ifneq ($(origin dpl_call),file)

# The flags of the shell, also where .SHELLFLAGS = $(dpl_call) comes before the include.
dpl_call  := -c
dpl_flags := $(.SHELLFLAGS)
dpl_name  := $(lastword $(MAKEFILE_LIST))
dpl_file  := $(abspath $(dpl_name))
dpl_run   := $(shell command -v dpl-run)

ifeq ($(wildcard $(dpl_file)),)
$(error dpl.mk: its path must not have a space)
endif
ifeq ($(dpl_run),)
$(error dpl.mk: no dpl-run in PATH: install DPL, or add its directory to PATH)
endif

# .POSIX after the include changes the default.
ifeq ($(origin .SHELLFLAGS),default)
dpl_flags = $(if $(filter -s,$(value SCCSGETFLAGS)),-ec,-c)
endif

DPL_RUN_FLAGS ?=
dpl_space := $(subst x,,x x)
dpl_shell  = $(filter sh ash bash dash ksh mksh yash zsh,$(notdir $(lastword $(SHELL))))
dpl_word   = '$(subst ',-,$(subst $(dpl_space),-,$1))'
dpl_start  = $(dpl_file) $(dpl_run) $(call dpl_word,$@) $(DPL_RUN_FLAGS) -- $(SHELL)

# $(shell) outside of recipes has no target.
dpl_call   = $(if $(value @),$(if $(dpl_shell),$(dpl_start))) $(dpl_flags)

ifneq ($(filter $(dpl_file),$(abspath $(MAKEFILES))),)
.SHELLFLAGS = $(dpl_call)
endif

# No rule of the Makefile, such as %: FORCE, remakes this file.
dpl_goal := $(value .DEFAULT_GOAL)
$(dpl_name): ;
.DEFAULT_GOAL := $(dpl_goal)

endif
