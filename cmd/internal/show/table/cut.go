package table

// cut shortens ids to at most width columns each, so that different ids stay different. It cuts out
// the middle and keeps more of the end, where made-up ids differ. If that would make two ids equal,
// it tries other places. ok is false if no place works. Ids are ASCII.
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
