include dpl.mk
.ONESHELL:
whole: private .SHELLFLAGS = $(dpl_call)
whole: part
	@call=$$DPL_CALL
	@echo "$@ $$DPL_PARTICIPANT"
	test "$$call" = "$$DPL_CALL" && test -n "$$call"
part:
	@echo "part $$DPL_PARTICIPANT"
