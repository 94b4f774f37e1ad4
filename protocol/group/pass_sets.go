package group

import "slices"

// Remaining returns those of set that have neither started again nor ended for good.
func (r Registry) Remaining(set []string) []string {
	return slices.DeleteFunc(slices.Clone(set), func(id string) bool {
		i := r.index(id)
		return i < 0 || r.Services[i].State == StateRunning || r.Services[i].State.Final()
	})
}
