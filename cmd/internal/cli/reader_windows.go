package cli

// ReaderGone returns nil: here only a write shows that the reader is gone.
func ReaderGone() <-chan struct{} { return nil }
