package runner

import (
	"os"
	"testing"

	"github.com/dpl-project/dpl/testscripts/programs"
)

func TestMain(m *testing.M) { os.Exit(programs.Run(m)) }
