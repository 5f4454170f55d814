package overdds

import (
	"bytes"
	"fmt"
	"strings"

	"vnd/pkg/ros2/rmw"
)

// Keys of the "key=value;" pairs that ROS puts into DDS' USER_DATA.
const (
	enclaveKey = "enclave"  // of participants
	clientKey  = "clientid" // of both endpoints of a client
	serverKey  = "serviceid"
	hashKey    = "typehash" // of endpoints, from Iron on
	// of a service's endpoints: the hash of the service, from Lyrical on
	serviceHashKey = "sertypehash"
)

// buffersMark begins what Lyrical's rmw_fastrtps_cpp says, at the end, of endpoints whose type has lists of bytes:
// where such lists may lie ("BUFBE:cpu="). Lyrical's own tools then show no hash.
var buffersMark = []byte("BUFBE:")

// UserData is the USER_DATA of a ROS process' participant, for instance "enclave=/;".
// It marks the process as one of ROS.
func UserData(enclave string) []byte { return []byte(enclaveKey + "=" + enclave + ";") }

// hashPair is the pair of a hash under its key; "" when there is none.
func hashPair(key, hash string) string {
	if hash == "" {
		return ""
	}
	return key + "=" + hash + ";"
}

// pairID is the value of clientid and serviceid: the 12 bytes of the participant's
// prefix and a counter. The bytes are hexadecimal without leading zeros, with dots
// between them. A space pads the first one (rmw_cyclonedds_cpp, csid_to_string: setw
// without setfill).
func pairID(participant rmw.GID, counter uint32) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%2x", participant[0])
	for _, c := range participant[1:12] {
		fmt.Fprintf(&b, ".%x", c)
	}
	for shift := 24; shift >= 0; shift -= 8 {
		fmt.Fprintf(&b, ".%x", byte(counter>>shift))
	}
	return b.String()
}

// parseUserData reads "key=value;" pairs as rmw's parse_key_value does. Keys are
// alphanumeric and no value is empty. A semicolon that follows another belongs to the
// value. The last pair may lack its semicolon, and NULs may follow. One character that
// is not alphanumeric is skipped before a further key. Text that breaks these rules has
// no pairs: other programs use USER_DATA in other ways. What follows buffersMark is left out.
func parseUserData(data []byte) map[string]string {
	pairs := map[string]string{}
	data, _, _ = bytes.Cut(data, buffersMark)
	for len(data) > 0 {
		if len(pairs) > 0 && data[0] != 0 && data[0] != '=' && !isAlphanumeric(data[0]) {
			data = data[1:]
		}
		if len(data) == 0 || data[0] == 0 && len(pairs) > 0 {
			break
		}
		n := 0
		for n < len(data) && isAlphanumeric(data[n]) {
			n++
		}
		if n == 0 || n == len(data) || data[n] != '=' {
			return nil
		}
		key := string(data[:n])
		value, rest := cutValue(data[n+1:])
		if value == "" {
			return nil
		}
		pairs[key] = value
		data = rest
	}
	return pairs
}

// cutValue returns the value at the start of data, and the rest after its semicolons.
// All semicolons but the first belong to the value.
func cutValue(data []byte) (value string, rest []byte) {
	n := 0
	for n < len(data) && data[n] != ';' {
		n++
	}
	if n == len(data) {
		return string(data), nil
	}
	end := n
	for n < len(data) && data[n] == ';' {
		n++
	}
	return string(data[:end]) + string(data[end+1:n]), data[n:]
}

func isAlphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// parseHash returns a type hash as announced, "" when it is not one.
func parseHash(s string) string {
	const version = "RIHS01_"
	digits, found := strings.CutPrefix(s, version)
	if !found || len(digits) != 64 || strings.Trim(digits, "0123456789abcdefABCDEF") != "" {
		return ""
	}
	return s
}
