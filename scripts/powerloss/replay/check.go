//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dpl-project/dpl/scripts/powerloss"
	"github.com/dpl-project/dpl/testscripts/poll"
)

// A check cuts the power at points of a log and looks at what a file system makes of it.
type check struct {
	name, mode, want       string
	log, acks              string
	image, device          string // a file, and the loop device on it
	mount, fstype, options string
	bin                    string
	points                 int
	seed                   uint64

	torn, lost, stuck int
	first             error
}

// every is how many points are given to Next for one that is given to the real commands.
const every = 25

func (c *check) define(f *flag.FlagSet) {
	f.StringVar(&c.name, "name", "", "for the table")
	f.StringVar(&c.mode, "mode", "prefix", "prefix: all writes before a point are on disk; drop: "+
		"some since the last flush are not")
	f.StringVar(&c.want, "want", "", "what a control has to find: torn or lost")
	f.StringVar(&c.log, "log", "", "log of the disk")
	f.StringVar(&c.acks, "acks", "", "file that record has written")
	f.StringVar(&c.image, "image", "", "sparse file, as large as the disk")
	f.StringVar(&c.device, "device", "", "loop device on the image")
	f.StringVar(&c.mount, "mount", "", "where the disk was mounted")
	f.StringVar(&c.fstype, "fs", "", "file system")
	f.StringVar(&c.options, "options", "", "options of mount")
	f.StringVar(&c.bin, "bin", "", "directory of the commands")
	f.IntVar(&c.points, "points", 300, "how many points")
	f.Uint64Var(&c.seed, "seed", 1, "of what is dropped")
}

// run checks all points. It returns an error if something is wrong, or if a control finds nothing
// wrong.
func (c *check) run() error {
	data, err := os.ReadFile(c.acks)
	if err != nil {
		return err
	}

	var rec record
	if err := json.Unmarshal(data, &rec); err != nil {
		return err
	}

	log, err := os.Open(c.log)
	if err != nil {
		return err
	}
	defer log.Close()

	disk, err := newRebuilder(log)
	if err != nil {
		return err
	}

	begun, points := time.Now(), choose(int(rec.Begin), len(disk.requests), c.points)
	for i, at := range points {
		if err := disk.to(at); err != nil {
			return err
		}
		if err := c.point(disk, rec.Acks, i); err != nil {
			return err
		}
	}

	return c.report(len(points), time.Since(begun))
}

// choose returns up to n points from begin to end, both of them among these.
func choose(begin, end, n int) (points []int) {
	n = min(n, end-begin+1)
	for i := range n {
		points = append(points, begin+(end-begin)*i/max(n-1, 1))
	}
	return points
}

// point looks at one point. The error it returns is none of the ledger.
func (c *check) point(disk *rebuilder, acks []powerloss.Ack, i int) error {
	content := disk.current
	if c.mode == "drop" {
		r := rand.New(rand.NewPCG(c.seed, uint64(disk.at)))
		var err error
		if content, err = disk.some(func() bool { return r.IntN(2) == 0 }); err != nil {
			return err
		}
	}

	if err := c.rebuild(content); err != nil {
		return err
	}

	err := c.mounted(func(base string) error {
		if err := powerloss.Check(base, acks, int64(disk.at)); err != nil {
			return err
		}
		if i%every == 0 {
			return powerloss.NextCommands(c.bin, base, 0)
		}
		return powerloss.Next(base, powerloss.Command{}.Now())
	})

	switch {
	case err == nil:
		return nil
	case errors.Is(err, powerloss.ErrTorn):
		c.torn++
	case errors.Is(err, powerloss.ErrLost):
		c.lost++
	default: // also a disk that cannot be mounted
		c.stuck++
	}

	if c.first == nil {
		c.first = fmt.Errorf("before entry %d: %w", disk.at, err)
	}

	return nil
}

// rebuild writes the image, and makes the loop device forget what it knew of it.
func (c *check) rebuild(content pages) error {
	image, err := os.OpenFile(c.image, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer image.Close()

	if err := content.put(image); err != nil {
		return err
	}

	device, err := os.Open(c.device)
	if err != nil {
		return err
	}
	defer device.Close()

	return unix.IoctlSetInt(int(device.Fd()), unix.BLKFLSBUF, 0)
}

// mounted calls do with the base on the mounted disk: mounting it makes the file system recover.
func (c *check) mounted(do func(base string) error) error {
	if err := unix.Mount(c.device, c.mount, c.fstype, 0, c.options); err != nil {
		return fmt.Errorf("mount: %w", err)
	}
	err := do(filepath.Join(c.mount, "base"))
	return errors.Join(err, c.unmount())
}

// unmount waits until the garbage collector has closed the directories of opened ledgers.
func (c *check) unmount() error {
	var err error
	poll.Within(10*time.Second, func() bool {
		runtime.GC()
		err = unix.Unmount(c.mount, 0)
		return err != unix.EBUSY
	})
	return err
}

// report prints the line of the table.
func (c *check) report(points int, took time.Duration) error {
	found := map[string]int{"torn": c.torn, "lost": c.lost}
	verdict, err := "ok", error(nil)
	switch {
	case points < 2:
		verdict, err = "NO POINTS", errors.New("the log has no entries of the commands")
	case c.want == "" && c.first != nil:
		verdict, err = "WRONG", c.first
	case c.want != "" && found[c.want] == 0:
		verdict, err = "NOT NOTICED", fmt.Errorf("the control finds nothing %s", c.want)
	case c.want != "":
		verdict = "ok, noticed"
	}

	ms := float64(took.Milliseconds()) / float64(max(points, 1))
	fmt.Printf("%-48s %-6s %6d %6d %10d %5d %8.0f  %s\n", c.name, c.mode, points, c.torn, c.lost,
		c.stuck, ms, verdict)
	if err != nil {
		return fmt.Errorf("%s, %s: %w", c.name, c.mode, err)
	}

	return nil
}
