// Pictures plays scenes in a terminal with the real commands, and draws the pictures of the pages.
//
//	pictures [-out DIR] BIN [SCENE...]
//
// BIN is the directory of the commands. Without a SCENE it draws all, to DIR/SCENE.svg.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/dpl-project/dpl/scripts/pictures/draw"
	"github.com/dpl-project/dpl/scripts/pictures/play"
	"github.com/dpl-project/dpl/scripts/pictures/scene"
	"github.com/dpl-project/dpl/scripts/pictures/scenes"
)

func main() {
	out := flag.String("out", "spec/pictures", "directory to write to")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "pictures: usage: pictures [-out DIR] BIN [SCENE...]")
		os.Exit(2)
	}

	if err := pictures(*out, flag.Arg(0), flag.Args()[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

func pictures(out, bin string, names []string) error {
	bin, err := filepath.Abs(bin)
	if err != nil {
		return err
	}
	all, err := scenes.All()
	if err != nil {
		return err
	}

	for _, name := range names {
		if !slices.ContainsFunc(all, func(s scene.Scene) bool { return s.Name == name }) {
			return fmt.Errorf("%q: no such scene", name)
		}
	}

	for _, s := range all {
		if len(names) > 0 && !slices.Contains(names, s.Name) {
			continue
		}
		if err := picture(out, bin, s); err != nil {
			return err
		}
	}

	return nil
}

// picture plays a scene and writes its picture.
func picture(out, bin string, s scene.Scene) error {
	dir, err := os.MkdirTemp("", "dpl-pictures")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)

	p, err := play.Play(s, bin, dir)
	if err != nil {
		return err
	}

	file := filepath.Join(out, s.Name+".svg")
	svg := draw.SVG(p)
	if err := os.WriteFile(file, []byte(svg), 0o644); err != nil {
		return err
	}

	fmt.Printf("%s: %d bytes, %d slides", file, len(svg), len(p.Slides))
	if p.Animated {
		fmt.Printf(", %v", p.Length().Round(100*time.Millisecond))
	}
	fmt.Println()
	return nil
}
