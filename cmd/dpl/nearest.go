package main

// nearest returns the candidate most likely meant by name, or "" if none is near. A third of its
// letters, and at least one, may be wrong, missing, extra or swapped.
func nearest(name string, candidates []string) (near string) {
	least := max(1, (len(name)+1)/3) + 1
	for _, c := range candidates {
		if d := distance(name, c); d < least {
			near, least = c, d
		}
	}
	return near
}

// distance returns the number of letters to change, add, remove or swap with their neighbour to
// turn a into b.
func distance(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}

	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			d := last[j]
			if a[i] != b[j] {
				d++
			}

			d = min(d, last[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				d = min(d, before[j-1]+1)
			}

			next[j+1] = d
		}

		before, last = last, next
	}

	return last[len(b)]
}
