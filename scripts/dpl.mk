# dpl.mk: what a target's recipe runs is a call. For GNU make 4.
#
#     include /usr/local/share/dpl/dpl.mk
#     .SHELLFLAGS = $(dpl_call)             # of all targets; or of some: main.o main: private .SHELLFLAGS = $(dpl_call)
#
#     main: main.o
#     	./link main.o
#     main.o: main.c
#     	./compile main.c "$$DPL_TMP/main.o" && mv "$$DPL_TMP/main.o" $@
#
#     $ dpl-run -- make -j4                 # one operation: when one recipe fails, or is killed, the others get TERM
#     $ make -j4                            # each call is an operation of its own
#
# Each line of a recipe is a call by itself, or under .ONESHELL the whole recipe, made by a participant that is called as
# the target is, with - for what cannot be in an id, below $DPL_OP, by dpl-run. Its call has a name that nobody else has, so
# make -j and a make in a make are no matter. make sees the status of the line: 3 when it was stopped, as the operation has
# failed elsewhere. The shell is $(SHELL), with the .SHELLFLAGS from before the include. $(DPL_RUN_FLAGS) are flags of
# dpl-run, such as --timeout 10m, for all targets or for one.
#
# The lines below are a comment for make alone: .SHELLFLAGS has the shell run this file, as dpl.mk TARGET [FLAG...] -- SHELL
# FLAG... LINE, for a word of .SHELLFLAGS cannot have a space in it under .ONESHELL. \
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

# $(shell) runs by .SHELLFLAGS, too, but for no target.
dpl_call = $(if $@,$(dpl_file) $(call dpl_word,$@) $(DPL_RUN_FLAGS) -- $(SHELL)) $(dpl_flags)
