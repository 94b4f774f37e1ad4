package doctor

import (
	"fmt"

	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/protocol/group"
)

// logs reports logs that grow without limit, either because no pass rotates them, or because none
// has done so for a long time, and those that are not where they should be.
func (p *checkup) logs() (found []finding) {
	for _, f := range p.files {
		if f.Kind != layout.SupervisorsFile {
			continue
		}
		for i := range f.Registry.Services {
			if s := &f.Registry.Services[i]; s.StartInfo != nil {
				found = append(found, p.logOf(f.ID, s)...)
			}
		}
	}

	return found
}

// logOf checks the log of one service.
func (p *checkup) logOf(group string, s *group.Service) (found []finding) {
	const late = 4 // times the limit: no pass has run, or none could rotate it
	var size int64
	lost := ""
	log, err := p.survey.Ledger.ServiceLog(group, s.ID, s)
	if err == nil {
		size, err = log.Size()
	}
	if err == nil {
		lost, err = log.Lost()
	}

	object := fmt.Sprintf("log of %s in %s", s.ID, group)
	if err != nil {
		found = append(found, warning.about(object, err.Error(), ""))
	}
	if lost != "" {
		found = append(found, warning.about(object, fmt.Sprintf("it has lost its name: process %d "+
			"writes to %s", s.PID, lost),
			fmt.Sprintf("dpl-restart --group %s --service %s begins a new one", group, s.ID)))
	}
	switch limit := s.StartInfo.LogMax; {
	case limit == 0 && s.StartInfo.LogEvery == 0:
		text := fmt.Sprintf("nothing limits it (--log-max 0), and it has %d MiB", size/mebibyte)
		found = append(found, warning.about(object, text, "dpl-register it with another --log-max"))
	case limit > 0 && size/late > limit:
		text := fmt.Sprintf("it has %d MiB, and should be rotated at %d KiB", size/mebibyte,
			limit/1024)
		found = append(found, warning.about(object, text,
			"dpl-orchestrate rotates it, or says why it cannot"))
	}

	return found
}
