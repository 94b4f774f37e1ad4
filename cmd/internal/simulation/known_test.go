package simulation

// What the product is known to do wrong. Each is to become false, and to go, with what mends it.
const (
	originTempsStay   = true // under leases, of a killed first commit
	lateHintsStay     = true // under leases, of an operation that was archived while their maker was paused
	adoptedNeverStale = true // a supervisor without a heartbeat that a pass finds alive
)
