//go:build !linux

package sdnotify

import "errors"

// Socket does not work here. See socket_linux.go.
type Socket struct{}

// Listen always returns an error.
func Listen() (*Socket, error) {
	return nil, errors.New("sd_notify is not supported on this system")
}

// Address returns "".
func (*Socket) Address() string { return "" }

// Messages returns nil.
func (*Socket) Messages() <-chan Message { return nil }

// Finish does nothing.
func (*Socket) Finish() {}

// Close does nothing.
func (*Socket) Close() error { return nil }
