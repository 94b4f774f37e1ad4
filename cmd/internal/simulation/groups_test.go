package simulation

type registry struct{}

func (g *registry) lostPower() {}
func (w *world) endGroups() {}
func (w *world) groupProgram(name string, h *host) {}
