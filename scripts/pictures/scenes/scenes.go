// Package scenes holds the scenes of the pictures in spec/pictures.
package scenes

import (
	"embed"
	"fmt"
	"strings"

	"github.com/dpl-project/dpl/scripts/pictures/scene"
)

//go:embed *.scene
var files embed.FS

// All returns all scenes by name.
func All() (all []scene.Scene, err error) {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil, err
	}

	for _, e := range entries {
		text, err := files.ReadFile(e.Name())
		if err != nil {
			return nil, err
		}

		s, err := scene.Parse(strings.TrimSuffix(e.Name(), ".scene"), string(text))
		if err != nil {
			return nil, fmt.Errorf("scenes: %w", err)
		}
		all = append(all, s)
	}

	return all, nil
}
