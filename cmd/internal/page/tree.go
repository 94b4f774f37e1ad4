package page

// An item of a tree is at a depth, below the last one before it that is less deep by one.
type item struct {
	depth int
	body  func()
}

// tree writes items. Those below an item are a list in it; deep ones are not moved further to the right: a phone is narrow.
func (w *writer) tree(items []item) {
	const deep = 12
	w.open("ul", "class", "tree")
	for i, it := range items {
		w.open("li")
		it.body()
		next := 0
		if i+1 < len(items) {
			next = items[i+1].depth
		}
		if next > it.depth {
			class := "below"
			if it.depth >= deep {
				class = "flat"
			}
			w.open("ul", "class", class)
			continue
		}
		w.close()
		for range it.depth - next {
			w.close()
			w.close()
		}
	}
	w.close()
}
