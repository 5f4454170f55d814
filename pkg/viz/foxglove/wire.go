package foxglove

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"vnd/msgs"
)

// Subprotocols are the names of the protocol, as a client asks for it: that of Foxglove's SDK, and the one before.
var Subprotocols = []string{"foxglove.sdk.v1", "foxglove.websocket.v1"}

// Wanted reports whether a header Sec-WebSocket-Protocol asks for one of them.
func Wanted(header []string) bool {
	for _, line := range header {
		for name := range strings.SplitSeq(line, ",") {
			if slices.Contains(Subprotocols, strings.TrimSpace(name)) {
				return true
			}
		}
	}
	return false
}

// encoding is that of all messages: what ROS 2 has on the wire.
const encoding = "cdr"

type serverInfo struct {
	Op           string   `json:"op"`
	Name         string   `json:"name"`
	Capabilities []string `json:"capabilities"`
	Encodings    []string `json:"supportedEncodings,omitempty"`
	Session      string   `json:"sessionId"`
}

// schema is a type, as ROS 2 defines it.
type schema struct {
	Encoding       string `json:"encoding"`
	SchemaName     string `json:"schemaName"`
	SchemaEncoding string `json:"schemaEncoding"`
	Schema         string `json:"schema"`
}

func schemaOf(t msgs.Type) schema { return schema{encoding, t.Name, "ros2msg", t.Definition()} }

type channel struct {
	ID    uint32 `json:"id"`
	Topic string `json:"topic"`
	schema
}

type advertise struct {
	Op       string    `json:"op"`
	Channels []channel `json:"channels"`
}

type unadvertise struct {
	Op       string   `json:"op"`
	Channels []uint32 `json:"channelIds"`
}

type service struct {
	ID       uint32 `json:"id"`
	Name     string `json:"name"`
	Type     string `json:"type"`
	Request  schema `json:"request"`
	Response schema `json:"response"`
}

type advertiseServices struct {
	Op       string    `json:"op"`
	Services []service `json:"services"`
}

type unadvertiseServices struct {
	Op       string   `json:"op"`
	Services []uint32 `json:"serviceIds"`
}

type callFailure struct {
	Op      string `json:"op"`
	Service uint32 `json:"serviceId"`
	Call    uint32 `json:"callId"`
	Message string `json:"message"`
}

// Levels of a status.
const (
	warning = 1
	failure = 2
)

type status struct {
	Op      string `json:"op"`
	Level   int    `json:"level"`
	Message string `json:"message"`
	ID      string `json:"id,omitempty"`
}

// request is any JSON message of a client.
type request struct {
	Op            string `json:"op"`
	Subscriptions []struct {
		ID      uint32 `json:"id"`
		Channel uint32 `json:"channelId"`
	} `json:"subscriptions"`
	Ended []uint32 `json:"subscriptionIds"`
}

// Binary messages begin with one of these. Numbers are little-endian.
const (
	opMessage  = 1 // of a server: subscription u32, time u64 in ns, data
	opResponse = 3 // service u32, call u32, length of the encoding's name u32, that name, data
	opRequest  = 2 // of a client: the same
)

func messageFrame(subscription uint32, at int64, data []byte) []byte {
	b := make([]byte, 0, 13+len(data))
	b = append(b, opMessage)
	b = binary.LittleEndian.AppendUint32(b, subscription)
	b = binary.LittleEndian.AppendUint64(b, uint64(at))
	return append(b, data...)
}

// call is a call of a service, and its answer.
type call struct {
	service, call uint32
	data          []byte
}

func (c *call) response() []byte {
	b := []byte{opResponse}
	for _, n := range []uint32{c.service, c.call, uint32(len(encoding))} {
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	return append(append(b, encoding...), c.data...)
}

func readCall(data []byte) (c call, err error) {
	const fixed = 13
	if len(data) < fixed || data[0] != opRequest {
		return c, fmt.Errorf("a binary message of %d bytes, expected a call of a service", len(data))
	}
	c.service, c.call = binary.LittleEndian.Uint32(data[1:]), binary.LittleEndian.Uint32(data[5:])
	n := int64(binary.LittleEndian.Uint32(data[9:]))
	rest := data[fixed:]
	if n > int64(len(rest)) || string(rest[:n]) != encoding {
		return c, fmt.Errorf("the encoding of a call is not %s", encoding)
	}
	c.data = rest[n:]
	return c, nil
}
