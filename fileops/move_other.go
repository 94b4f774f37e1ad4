//go:build !linux

package fileops

func move(old, new string) error { return linkThenRemove(old, new) }
