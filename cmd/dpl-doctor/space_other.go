//go:build !linux && !darwin

package main

import "errors"

func volumeOf(string) (volume, error) { return volume{}, errors.ErrUnsupported }
