// Package play plays scenes in a real shell, with the real commands, and returns pictures.
//
// What differs from one time to the next (pids, times) is replaced by what the scene says, so each
// time a scene is played, the picture is the same. If it is not, the commands print something else.
package play

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/dpl-project/dpl/scripts/pictures/draw"
	"github.com/dpl-project/dpl/scripts/pictures/scene"
	"github.com/dpl-project/dpl/testscripts/poll"
	"github.com/dpl-project/dpl/testscripts/proc"
)

// ErrNeeds says that the machine lacks a program that a scene needs.
var ErrNeeds = errors.New("the machine lacks a program")

// A player plays one scene in a directory of its own.
type player struct {
	scene scene.Scene
	dir   string
	env   []string
	bash  string
	*settler
	*shell
}

// Play plays a scene with the commands in bin, in an empty directory, and ends every process that
// it leaves behind.
func Play(s scene.Scene, bin, dir string) (draw.Picture, error) {
	home := filepath.Join(dir, "home")
	p := &player{scene: s, dir: home, settler: newSettler(s, home), env: []string{
		"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + home, "LC_ALL=C.UTF-8",
		"TERM=xterm-256color", "DPL_LEDGER=" + home + "/.local/state/dpl", "INPUTRC=/dev/null",
		`PS1=\[\e]133;A\a\]` + prompt, "HISTFILE=", "TMPDIR=" + dir}}
	err := p.lookUp()
	if err == nil {
		err = p.furnish()
	}
	if err == nil {
		p.shell, err = open(p.bash, home, p.env, s.Columns, s.Rows)
	}
	if err != nil {
		return draw.Picture{}, err
	}

	defer proc.EndAll(dir)
	defer func() { p.close() }()
	return p.play()
}

// lookUp finds the programs that the scene needs, and the shell.
func (p *player) lookUp() (err error) {
	for _, name := range append(p.scene.Needs, "bash") {
		if p.bash, err = exec.LookPath(name); err != nil {
			return fmt.Errorf("%s: %w: %s", p.scene.Name, ErrNeeds, name)
		}
	}
	return nil
}

// furnish writes the files of the scene.
func (p *player) furnish() error {
	if err := os.Mkdir(p.dir, 0o700); err != nil {
		return err
	}

	for _, f := range p.scene.Files {
		path := filepath.Join(p.dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(f.Content), f.Mode); err != nil {
			return err
		}
	}

	return nil
}

func (p *player) play() (draw.Picture, error) {
	picture := draw.Picture{Title: p.scene.Title, Columns: p.scene.Columns, Rows: p.scene.Rows,
		Animated: p.scene.Animated}
	var slide draw.Slide
	for _, step := range p.scene.Steps {
		lines, err := p.step(step)
		if err != nil {
			return picture, fmt.Errorf("%s: %s: %w", p.scene.Name, step.Command, err)
		}

		slide = append(slide, lines...)
		if step.Kind == scene.Terminal {
			picture.Slides, slide = append(picture.Slides, slide), nil
		}
	}

	picture.Slides = append(picture.Slides, slide)
	if p.scene.Page.File != "" {
		html, err := os.ReadFile(filepath.Join(p.dir, p.scene.Page.File))
		if err != nil {
			return picture, err
		}
		picture.Page = draw.Page{Width: p.scene.Page.Width, Height: p.scene.Page.Height,
			HTML: p.settlePage(string(html))}
	}

	return picture, p.check()
}

// step does a step, and returns the lines that the picture shows of it.
func (p *player) step(step scene.Step) ([]draw.Line, error) {
	command := p.real(step.Command)
	switch step.Kind {
	case scene.Run:
		return nil, p.run(command)
	case scene.Terminal:
		return nil, p.change()
	case scene.Until:
		err := errors.New("not tried")
		poll.Within(patience, func() bool { err = p.run(command); return err == nil })
		return nil, err
	}

	first, end, err := p.enter(command)
	if err != nil {
		return nil, err
	}
	printed, err := p.lines(first, end)
	if step.Kind == scene.Hidden {
		return nil, nil
	}
	if n := len(prompt + step.Command); n > p.scene.Columns {
		return nil, fmt.Errorf("it is %d columns wide, but the terminal %d", n, p.scene.Columns)
	}
	if err != nil {
		return nil, err
	}

	printed = wrap(p.settle(step, printed), p.scene.Columns)
	lines := append([]draw.Line{typed(step.Command)}, printed...)
	lines[len(lines)-1].Pause = cmp.Or(step.Pause, 400*time.Millisecond)
	return lines, nil
}

// change goes to a new terminal.
func (p *player) change() (err error) {
	p.close()
	p.shell, err = open(p.bash, p.dir, p.env, p.scene.Columns, p.scene.Rows)
	return err
}

// run runs a command that is not typed.
func (p *player) run(command string) error {
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir, cmd.Env = p.dir, p.env
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, strings.TrimSpace(string(out)))
	}
	return nil
}
