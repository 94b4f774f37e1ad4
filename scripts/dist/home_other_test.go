//go:build !unix

package main

import "testing"

func installHome(t *testing.T, _ string) { t.Skip("needs unix: another user") }
