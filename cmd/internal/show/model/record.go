package model

import "github.com/dpl-project/dpl/protocol/audit"

// A Record is a line of the record of an object, to be shown.
type Record struct {
	audit.Line
	Events []audit.Event
	User   string // the name of the user
}
