// Package mcap reads and writes MCAP files (https://mcap.dev/spec), the
// default storage of rosbag2.
//
// A Reader takes files that are complete, cut off at any byte, or damaged
// inside. It uses the summary at the end where it is valid and scans the file
// where it is not. It returns every message that is complete, in log-time
// order, and counts the rest. Memory is bounded: chunks are loaded one by one,
// and every length is checked before anything is allocated for it.
//
// The package is our own for two needs of a recorder in flight. A reader goes on
// behind damaged records (TestDamagedChunkCostsOnlyItself), and a writer closes a
// chunk before it is full, so that a kill costs little.
package mcap

import "encoding/binary"

const magic = "\x89MCAP0\r\n"

// opcode is the kind of a record. Opcodes not listed here are skipped.
type opcode byte

const (
	opHeader        opcode = 0x01
	opFooter        opcode = 0x02
	opSchema        opcode = 0x03
	opChannel       opcode = 0x04
	opMessage       opcode = 0x05
	opChunk         opcode = 0x06
	opMessageIndex  opcode = 0x07
	opChunkIndex    opcode = 0x08
	opStatistics    opcode = 0x0B
	opMetadata      opcode = 0x0C
	opMetadataIndex opcode = 0x0D
	opSummaryOffset opcode = 0x0E
	opDataEnd       opcode = 0x0F
)

const (
	recordHead  = 9  // opcode, uint64 length
	messageHead = 22 // channel, sequence, log time, publish time
	footerSize  = recordHead + 20
	chunkHead   = 40 // of a chunk's content, without the compression's name

	// MaxChunk is the largest uncompressed chunk, and the largest single
	// record, that is read. Writers close chunks at about 1 MiB; only a
	// single large message makes a larger one.
	MaxChunk = 128 << 20

	// maxSmall is the largest schema, channel or metadata record that is read.
	maxSmall = 16 << 20
)

// Names of compressions as they stand in a file.
const (
	None = ""
	LZ4  = "lz4"
	Zstd = "zstd"
)

// Schema describes the messages of a channel.
type Schema struct {
	ID       uint16
	Name     string // in ROS 2 the type: "std_msgs/msg/String"
	Encoding string // "ros2msg" or "ros2idl"
	Data     []byte // the definition's text
}

// Channel is one stream of messages.
type Channel struct {
	ID       uint16
	SchemaID uint16 // 0: no schema
	Topic    string
	Encoding string // of the messages: "cdr"
	Metadata map[string]string
}

// Metadata is a named set of values kept in a file.
type Metadata struct {
	Name   string
	Values map[string]string
}

// Message is one record of a channel.
type Message struct {
	Channel     *Channel
	Sequence    uint32
	LogTime     uint64 // ns since the epoch: when it was recorded
	PublishTime uint64 // ns since the epoch: when it was sent
	Data        []byte // valid until the next call of Next
}

var le = binary.LittleEndian

// fields decodes a record's content field by field. After the first field that
// does not fit, bad is set and every further field is zero.
type fields struct {
	b   []byte
	bad bool
}

func (f *fields) take(n uint64) []byte {
	if f.bad || n > uint64(len(f.b)) {
		f.bad = true
		return nil
	}
	b := f.b[:n:n]
	f.b = f.b[n:]
	return b
}

func (f *fields) u16() uint16 {
	if b := f.take(2); b != nil {
		return le.Uint16(b)
	}
	return 0
}

func (f *fields) u32() uint32 {
	if b := f.take(4); b != nil {
		return le.Uint32(b)
	}
	return 0
}

func (f *fields) u64() uint64 {
	if b := f.take(8); b != nil {
		return le.Uint64(b)
	}
	return 0
}

// prefixed is a byte string, array or map after its uint32 length.
func (f *fields) prefixed() []byte { return f.take(uint64(f.u32())) }

func (f *fields) str() string { return string(f.prefixed()) }

func (f *fields) strings() map[string]string {
	m := map[string]string{}
	in := fields{b: f.prefixed()}
	for len(in.b) > 0 && !in.bad {
		k := in.str()
		v := in.str()
		if !in.bad {
			m[k] = v
		}
	}
	f.bad = f.bad || in.bad
	return m
}

func parseSchema(b []byte) (*Schema, bool) {
	f := fields{b: b}
	s := &Schema{ID: f.u16(), Name: f.str(), Encoding: f.str()}
	s.Data = append([]byte(nil), f.prefixed()...)
	return s, !f.bad && s.ID != 0
}

func parseChannel(b []byte) (*Channel, bool) {
	f := fields{b: b}
	c := &Channel{ID: f.u16(), SchemaID: f.u16(), Topic: f.str(), Encoding: f.str(), Metadata: f.strings()}
	return c, !f.bad
}

func parseMetadata(b []byte) (Metadata, bool) {
	f := fields{b: b}
	m := Metadata{Name: f.str(), Values: f.strings()}
	return m, !f.bad
}

// chunkHeader is the beginning of a chunk record's content.
type chunkHeader struct {
	start, end uint64 // log times of the earliest and the latest message
	size       uint64 // uncompressed
	crc        uint32 // of the uncompressed records, 0: not computed
	codec      string
	packed     uint64 // bytes of the compressed records
}

// parseChunkHeader returns the header and the bytes after it, which may be
// fewer than header.packed in a file that was cut off.
func parseChunkHeader(b []byte) (chunkHeader, []byte, bool) {
	f := fields{b: b}
	h := chunkHeader{start: f.u64(), end: f.u64(), size: f.u64(), crc: f.u32(), codec: f.str(), packed: f.u64()}
	return h, f.b, !f.bad
}

// walk calls visit for each whole record in data and returns how many bytes
// whole records fill. It stops when visit returns false.
func walk(data []byte, visit func(op opcode, at int, content []byte) bool) int {
	at := 0
	for len(data)-at >= recordHead {
		op := opcode(data[at])
		n := le.Uint64(data[at+1:])
		if op == 0 || n > uint64(len(data)-at-recordHead) {
			break
		}
		next := at + recordHead + int(n)
		if !visit(op, at+recordHead, data[at+recordHead:next]) {
			break
		}
		at = next
	}
	return at
}
