package group

import (
	"testing"

	"github.com/dpl-project/dpl/testscripts/vectors"
)

func TestSameServiceNoticesEveryField(t *testing.T) {
	vectors.CheckNoticesEveryField(t, sameService)
}
