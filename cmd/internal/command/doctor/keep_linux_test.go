package doctor

import "testing"

func TestIgnoresFsync(t *testing.T) {
	const mounts = `96 71 0:40 / / rw,relatime - overlay overlay rw,lowerdir=l,fsync=volatile
97 71 0:41 / /old rw,relatime shared:1 - overlay overlay rw,lowerdir=l,volatile,uuid=on
98 71 0:42 / /kept rw,relatime - overlay overlay rw,lowerdir=/volatile,uuid=on
99 71 0:43 / /other rw,relatime - tmpfs tmpfs rw,volatile
100 71 0:44
`
	for device, want := range map[string]bool{
		"0:40": true, "0:41": true, "0:42": false, "0:43": false, "0:44": false, "0:4": false,
	} {
		if got := ignoresFsync(mounts, device); got != want {
			t.Errorf("%s: got %v", device, got)
		}
	}
}
