package powerloss

import (
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// at returns the path meant by argument i of c, relative to the directory open as the argument dir,
// or through the descriptor in the path. inside is the same below base, and ok is false if it is
// elsewhere.
func (r *replay) at(p *process, c call, dir string,
	i int) (abs, inside string, ok bool, err error) {
	name, err := c.bytes(i)
	if err != nil {
		return "", "", false, err
	}

	abs = string(name)
	if through, ok := strings.CutPrefix(abs, "/proc/self/fd/"); ok {
		dir, abs, _ = strings.Cut(through, "/")
	}

	if !path.IsAbs(abs) {
		from := p.cwd
		if fd, err := strconv.Atoi(dir); err == nil {
			if p.files[fd] == nil {
				return "", "", false, fmt.Errorf("file %d is not open", fd)
			}
			from = p.files[fd].path
		}
		abs = path.Join(from, abs)
	}

	abs = path.Clean(abs)
	inside, ok = strings.CutPrefix(abs, r.base)

	return abs, inside, ok && (inside == "" || inside[0] == '/'), nil
}

// entry returns the directory and the name of what a path below base names.
func (r *replay) entry(inside string) (entry, error) {
	dir, name := path.Split(inside)
	parent := r.disk.find(dir)
	if parent == nil {
		return entry{}, fmt.Errorf("there is no %s", dir)
	}
	return entry{parent, name, parent.names[name]}, nil
}

func (r *replay) open(p *process, c call, dir string, i, flags int) error {
	abs, inside, ok, err := r.at(p, c, dir, i)
	if err != nil {
		return err
	}

	f := &file{path: abs, appends: c.has("O_APPEND"), cloexec: c.has("O_CLOEXEC")}
	p.files[int(c.result)] = f
	if !ok {
		return nil
	}

	if f.node = r.disk.find(inside); f.node != nil {
		if c.has("O_TRUNC") {
			f.node.truncate(0)
		}
		return nil
	}

	e, err := r.entry(inside)
	if err != nil || !c.has("O_CREAT") {
		return fmt.Errorf("there is no %s: %w", inside, err)
	}

	mode, err := c.number(flags + 1)
	if err != nil {
		return err
	}

	e.node = newNode(fs.FileMode(mode), nil)
	f.node = e.node
	r.disk.change(e)

	return nil
}

func (r *replay) rename(p *process, c call, from, to int) error {
	fromPath, inside, ok, err := r.at(p, c, c.args[from], from+1)
	if err != nil {
		return err
	}

	_, target, targetOK, err := r.at(p, c, c.args[to], to+1)
	if err != nil || !ok && !targetOK {
		return err
	}
	if ok != targetOK {
		return fmt.Errorf("a rename out of or into %s", r.base)
	}

	source, err := r.entry(inside)
	if err != nil {
		return err
	}

	e, err := r.entry(target)
	if err != nil {
		return err
	}

	e.node = source.node
	p.moved(fromPath, r.base+target)
	r.disk.change(entry{source.dir, source.name, nil}, e)

	return nil
}

// moved keeps the paths of open directories right.
func (p *process) moved(from, to string) {
	for _, f := range p.files {
		if rest, ok := strings.CutPrefix(f.path, from); ok && (rest == "" || rest[0] == '/') {
			f.path = to + rest
		}
	}
}

func (r *replay) link(p *process, c call) error {
	_, inside, ok, err := r.at(p, c, c.args[0], 1)
	if err != nil || !ok {
		return err
	}

	_, target, ok, err := r.at(p, c, c.args[2], 3)
	if err != nil || !ok {
		return fmt.Errorf("a link out of %s: %w", r.base, err)
	}

	e, err := r.entry(target)
	if err != nil {
		return err
	}

	e.node = r.disk.find(inside)
	r.disk.change(e)

	return nil
}

func (r *replay) unlink(p *process, c call, dir string, i int) error {
	_, inside, ok, err := r.at(p, c, dir, i)
	if err != nil || !ok {
		return err
	}

	e, err := r.entry(inside)
	e.node = nil
	if err == nil {
		r.disk.change(e)
	}
	return err
}

func (r *replay) mkdir(p *process, c call) error {
	_, inside, ok, err := r.at(p, c, c.args[0], 1)
	if err != nil || !ok {
		return err
	}

	mode, err := c.number(2)
	if err != nil {
		return err
	}

	e, err := r.entry(inside)
	e.node = newNode(fs.ModeDir|fs.FileMode(mode), nil)
	if err == nil {
		r.disk.change(e)
	}

	return err
}
