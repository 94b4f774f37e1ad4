package observe

// A Publication is a file, and the name that it gets in the edit by which an attempt is done or a
// call ends well (spec §15.10, §35.6). Both are absolute paths. If From is "", it is the new file that
// the process which makes the edit has opened for To.
type Publication struct{ From, To string }
