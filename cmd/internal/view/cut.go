package view

// cut returns the ids, each of at most width columns, so that those that differ still do: the middle goes, and more of the end
// is kept than of the beginning, for there is what a made-up id differs in. If that would make two alike, another place is
// tried. ok is false if none will do. Ids are ASCII.
func (s Style) cut(ids []string, width int) (short []string, ok bool) {
	room := width - columns(s.dots())
	if room < 2 {
		return nil, false
	}
	for _, end := range []int{room * 2 / 3, room / 2, room / 3, room - 1, 0} {
		short = short[:0]
		owner := make(map[string]string, len(ids))
		for _, id := range ids {
			text := id
			if len(id) > width {
				text = id[:room-end] + s.dots() + id[len(id)-end:]
			}
			if other, taken := owner[text]; taken && other != id {
				break
			}
			owner[text] = id
			short = append(short, text)
		}
		if len(short) == len(ids) {
			return short, true
		}
	}
	return nil, false
}
