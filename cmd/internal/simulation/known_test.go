package simulation

// What the product is known to do wrong. Each is to become false, and to go, with what mends it.
const (
	adoptedNeverStale = true // a supervisor without a heartbeat that a pass finds alive
)
