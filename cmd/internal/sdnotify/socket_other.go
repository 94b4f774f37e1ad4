//go:build !linux

package sdnotify

import "errors"

// Socket is described in socket_linux.go. None exists here.
type Socket struct{}

// Listen always fails.
func Listen() (*Socket, error) {
	return nil, errors.New("sd_notify is not supported on this system")
}

// Address returns nothing.
func (*Socket) Address() string { return "" }

// Messages returns nil.
func (*Socket) Messages() <-chan Message { return nil }

// Finish does nothing.
func (*Socket) Finish() {}

// Close does nothing.
func (*Socket) Close() error { return nil }
