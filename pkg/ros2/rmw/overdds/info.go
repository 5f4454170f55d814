package overdds

import (
	"fmt"

	"vnd/pkg/ros2/cdr"
	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/rmw"
)

// infoTopic is where every ROS process publishes its nodes and their endpoints, as
// rmw_dds_common/msg/ParticipantEntitiesInfo.
var infoTopic = dds.Topic{Name: "ros_discovery_info",
	Type: "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_"}

// infoWriterQoS is as seen on the wire of Humble. Writers latch one sample. Readers
// keep all, because the topic has no key, and ignore their own participant.
func infoWriterQoS() dds.QoS {
	return dds.QoS{Reliability: dds.Reliable, MaxBlocking: dds.Infinite,
		Durability: dds.TransientLocal, Depth: 1}
}

func infoReaderQoS() dds.QoS {
	q := infoWriterQoS()
	q.History, q.Depth, q.IgnoreLocal = dds.KeepAll, 0, true
	return q
}

// gidSize is the size of a Gid on the wire: a GUID, up to Humble followed by 8 zeros.
// Topic and type have the same names with both; only the bytes differ.
type gidSize int

const (
	humbleGid gidSize = 24
	newerGid  gidSize = 16
)

// info is the announcement of one process.
type info struct {
	gid   rmw.GID
	nodes []nodeInfo
}

type nodeInfo struct {
	namespace, name  string
	readers, writers []rmw.GID
}

// maxNodeString bounds the strings in NodeEntitiesInfo.msg.
const maxNodeString = 256

// appendInfo appends the sample, encapsulation header first.
func appendInfo(dst []byte, size gidSize, m *info) ([]byte, error) {
	var e cdr.Encoder
	e.Reset(dst, cdr.LittleEndian)
	encodeGid(&e, size, m.gid)
	e.Len(len(m.nodes), 0, "node_entities_info_seq")
	for i := range m.nodes {
		n := &m.nodes[i]
		e.String(n.namespace, maxNodeString, "node_namespace")
		e.String(n.name, maxNodeString, "node_name")
		encodeGids(&e, size, n.readers, "reader_gid_seq")
		encodeGids(&e, size, n.writers, "writer_gid_seq")
	}
	return e.Bytes()
}

func encodeGids(e *cdr.Encoder, size gidSize, gids []rmw.GID, field string) {
	e.Len(len(gids), 0, field)
	for _, g := range gids {
		encodeGid(e, size, g)
	}
}

func encodeGid(e *cdr.Encoder, size gidSize, g rmw.GID) {
	var b [humbleGid]byte
	copy(b[:], g[:])
	cdr.EncodeArray(e, b[:size])
}

// parseInfo reads a sample of either size of Gid, which the 8 bytes after the first
// GUID tell. In an older sample they are zeros. In a newer one they are the number of
// nodes and the length of the first namespace, both above 0. A newer sample without
// nodes ends before them.
func parseInfo(data []byte) (*info, error) {
	const guid = len(rmw.GID{})
	size := newerGid
	if body := data[min(len(data), cdr.HeaderSize):]; len(body) >= int(humbleGid)+4 &&
		[humbleGid - newerGid]byte(body[guid:humbleGid]) == [humbleGid - newerGid]byte{} {
		size = humbleGid
	}
	m, err := decodeInfo(data, size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", infoTopic.Name, err)
	}
	return m, nil
}

func decodeInfo(data []byte, size gidSize) (*info, error) {
	var d cdr.Decoder
	d.Reset(data)
	m := &info{gid: decodeGid(&d, size)}
	// A node takes at least two empty strings and two counts.
	n := d.Len(0, 16, "node_entities_info_seq")
	for range n {
		var node nodeInfo
		d.String(&node.namespace, maxNodeString, "node_namespace")
		d.String(&node.name, maxNodeString, "node_name")
		node.readers = decodeGids(&d, size, "reader_gid_seq")
		node.writers = decodeGids(&d, size, "writer_gid_seq")
		if d.Err() != nil {
			break
		}
		m.nodes = append(m.nodes, node)
	}
	return m, d.Finish()
}

func decodeGids(d *cdr.Decoder, size gidSize, field string) []rmw.GID {
	n := d.Len(0, int(size), field)
	if n == 0 {
		return nil
	}
	gids := make([]rmw.GID, n)
	for i := range gids {
		gids[i] = decodeGid(d, size)
	}
	return gids
}

func decodeGid(d *cdr.Decoder, size gidSize) rmw.GID {
	var b [humbleGid]byte
	cdr.DecodeArray(d, b[:size], "gid.data")
	return rmw.GID(b[:len(rmw.GID{})])
}
