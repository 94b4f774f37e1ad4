//go:build !linux

package doctor

func keptBy(string) keep { return onDisk }
