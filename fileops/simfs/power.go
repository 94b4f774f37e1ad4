package simfs

import (
	"math/rand/v2"
	"slices"
)

// sync makes the contents or the names of n durable.
func (d *Disk) sync(n *Node) {
	if n.mode.IsDir() {
		d.flush(n)
		return
	}
	n.onDisk, n.tried = n.written(), len(n.data)
}

// written returns the contents that an fsync of n leaves on disk: data, with zeros where a failed
// fsync has dropped it.
func (n *Node) written() []byte {
	if n.lost == nil {
		return n.data
	}
	data := slices.Clone(n.data)
	for _, l := range n.lost {
		clear(data[min(l[0], l[1]):l[1]])
	}
	return data
}

// flush makes the changes of one directory durable, or all changes if the disk has a journal.
func (d *Disk) flush(dir *Node) {
	if d.Ordered {
		d.keep(len(d.pending))
		d.pending = d.pending[:0]
		return
	}
	d.flushWanted(func(c *change) bool {
		return c.sets[0].dir == dir || c.n > 1 &&
			c.sets[1].dir == dir
	})
}

// flushWanted makes the wanted changes durable, and before each all earlier changes to the same
// names. Journalling and copy-on-write file systems keep that order.
func (d *Disk) flushWanted(wanted func(*change) bool) {
	chosen := make([]bool, len(d.pending))
	for i := len(d.pending) - 1; i >= 0; i-- {
		chosen[i] = chosen[i] || wanted(&d.pending[i])
		for j := 0; chosen[i] && j < i; j++ {
			chosen[j] = chosen[j] || d.pending[i].touches(&d.pending[j])
		}
	}

	rest := d.pending[:0]
	for i, c := range d.pending {
		if !chosen[i] {
			rest = append(rest, c)
			continue
		}
		c.keep()
	}

	d.pending = rest
}

func (c *change) touches(other *change) bool {
	for _, a := range c.sets[:c.n] {
		for _, b := range other.sets[:other.n] {
			if a.dir == b.dir && a.name == b.name {
				return true
			}
		}
	}
	return false
}

// Flush makes all changes of names durable.
func (d *Disk) Flush() { d.flushWanted(func(*change) bool { return true }) }

// PowerLoss keeps everything that was flushed and a random part of the rest: any set of changes to
// names (see Ordered), and for each file any prefix of its new bytes, or zeros. Afterwards nothing
// is locked.
func (d *Disk) PowerLoss(r *rand.Rand) {
	if d.Ordered {
		d.keep(r.IntN(len(d.pending) + 1))
	} else {
		d.flushWanted(func(*change) bool { return r.IntN(2) == 0 })
	}
	d.pending = d.pending[:0]
	d.root.recover(r)
}

// keep makes the first changes durable.
func (d *Disk) keep(changes int) {
	for _, c := range d.pending[:changes] {
		c.keep()
	}
}

// keep makes the change durable.
func (c *change) keep() {
	for _, s := range c.sets[:c.n] {
		s.dir.durable = put(s.dir.durable, s.entry)
	}
}

func (n *Node) recover(r *rand.Rand) {
	n.holder = nil
	if !n.mode.IsDir() {
		if data := n.written(); string(data) != string(n.onDisk) {
			same := commonPrefix(data, n.onDisk)
			switch r.IntN(4) {
			case 0:
				n.onDisk = data
			case 1:
				n.onDisk = slices.Clone(data[:same+r.IntN(len(data)-same+1)])
			case 2:
				n.onDisk = append(slices.Clone(data[:same]), make([]byte, len(data)-same)...)
			}
		}

		n.data = n.onDisk[:len(n.onDisk):len(n.onDisk)]
		n.tried, n.lost = len(n.data), nil
		return
	}

	n.names = append(n.names[:0], n.durable...)
	for _, e := range n.names {
		e.node.recover(r)
	}
}

// failedSync leaves the data for readers, but no later fsync writes it, as on Linux.
func (n *Node) failedSync() {
	if !n.mode.IsDir() {
		n.lost = append(n.lost, [2]int{n.tried, len(n.data)})
		n.tried = len(n.data)
	}
}

func commonPrefix(a, b []byte) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
