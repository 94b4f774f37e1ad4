//go:build !linux

package main

import "testing"

func debianPurge(t *testing.T, _ string) { t.Skip("needs linux: chroot, dpkg") }

func rpmInstall(t *testing.T, rpm string) { t.Skip("rpm is for Linux") }

func runImage(t *testing.T, dir string) { t.Skip("images are for Linux") }
