package process

import (
	"encoding/hex"
	"hash/fnv"
)

// hostID returns 16 hexadecimal digits that identify a host. They include the host name because
// copied images share a machine id. They are a hash because machine-id(5) asks not to expose the
// machine id.
func hostID(machineID, hostName string) string {
	h := fnv.New64a()
	h.Write([]byte(machineID + "/" + hostName))
	return hex.EncodeToString(h.Sum(nil))
}
