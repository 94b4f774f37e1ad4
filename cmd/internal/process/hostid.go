package process

import (
	"encoding/hex"
	"hash/fnv"
)

// hostID returns 16 hexadecimal digits that stand for a host. The host name is part of it because
// images that are copied share a machine id; it is hashed because machine-id(5) asks not to expose
// a machine id.
func hostID(machineID, hostName string) string {
	h := fnv.New64a()
	h.Write([]byte(machineID + "/" + hostName))
	return hex.EncodeToString(h.Sum(nil))
}
