//go:build !linux

package main

import "testing"

func debianPurge(t *testing.T, _ string) { t.Skip("needs linux: chroot, dpkg") }
