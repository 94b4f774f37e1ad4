package doctor

import (
	"fmt"
	"os"

	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/protocol/group"
)

// logs reports logs that grow without limit, either because no pass rotates them, or because none
// has done so for a long time.
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
func (p *checkup) logOf(group string, s *group.Service) []finding {
	const late = 4 // times the limit: no pass has run, or none could rotate it
	var size int64
	if info, err := os.Lstat(p.survey.Ledger.LogPath(group, s.ID)); err == nil {
		size = info.Size()
	}

	object := fmt.Sprintf("log of %s in %s", s.ID, group)
	switch limit := s.StartInfo.LogMax; {
	case limit == 0:
		text := fmt.Sprintf("nothing limits it (--log-max 0), and it has %d MiB", size/mebibyte)
		return []finding{warning.about(object, text, "dpl-register it with another --log-max")}
	case size/late > limit:
		text := fmt.Sprintf("it has %d MiB, and should be rotated at %d KiB", size/mebibyte,
			limit/1024)
		return []finding{warning.about(object, text,
			"dpl-orchestrate rotates it, or says why it cannot")}
	}

	return nil
}
