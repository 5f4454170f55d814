package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// metadataName is the header's entry that is not a tensor.
const metadataName = "__metadata__"

// formatName tells a bundle from any other safetensors file.
const formatName = "vnd.bundle"

// metadataKeys are the keys of the metadata; a reader wants each, those of a signature all or none, and no other.
var metadataKeys = []string{
	"format", "format_version", "id", "parent", "robot", "task", "created_by", "dt", "dimensions",
	"normalisers", "config", "data_digest", "metrics", "sha256", "header_sha256",
}

// headerSum opens the place in the header where its own checksum stands. Within a JSON string quotes are
// escaped, so the sequence occurs nowhere else.
const headerSum = `"header_sha256":"`

// blankSum stands for the header's checksum while it is computed.
var blankSum = strings.Repeat("0", 2*sha256.Size)

// tensorInfo is a tensor's entry in the header.
type tensorInfo struct {
	DType   string `json:"dtype"`
	Shape   []int  `json:"shape"`
	Offsets [2]int `json:"data_offsets"` // begin and end in the bytes after the header
}

// Encode checks the bundle, sets its ID and returns the file's bytes, without a signature.
func (b *Bundle) Encode() ([]byte, error) {
	return b.encode(func(map[string]string) {}, func([]byte) {})
}

// encode is Encode with more metadata, and with what is to be written into a header whose checksum is blank.
func (b *Bundle) encode(add func(meta map[string]string), sign func(head []byte)) ([]byte, error) {
	if err := b.check(); err != nil {
		return nil, fmt.Errorf("bundle: %w", err)
	}
	body := b.body()
	meta, table, err := b.header(body)
	if err != nil {
		return nil, fmt.Errorf("bundle: %w", err)
	}
	add(meta)
	head, err := sealHeader(meta, table, sign)
	if err != nil {
		return nil, fmt.Errorf("bundle: %w", err)
	}
	if n := len(head) + 8 + len(body); n > MaxSize {
		return nil, fmt.Errorf("bundle: %d bytes, the limit is %d", n, MaxSize)
	}
	if b.ID != meta["id"] { // a bundle that others read already keeps its ID untouched
		b.ID = meta["id"]
	}
	out := binary.LittleEndian.AppendUint64(make([]byte, 0, 8+len(head)+len(body)), uint64(len(head)))
	return append(append(out, head...), body...), nil
}

// body lays the tensors out one after the other, little-endian.
func (b *Bundle) body() []byte {
	n := 0
	for _, t := range b.Tensors {
		n += 4 * len(t.Data)
	}
	out := make([]byte, 0, n)
	for _, t := range b.Tensors {
		for _, x := range t.Data {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
		}
	}
	return out
}

// table returns the tensors' entries of the header.
func (b *Bundle) table() map[string]tensorInfo {
	out := make(map[string]tensorInfo, len(b.Tensors))
	at := 0
	for _, t := range b.Tensors {
		end := at + 4*len(t.Data)
		shape := t.Shape
		if shape == nil {
			shape = []int{} // a scalar's shape is [], never null
		}
		out[t.Name] = tensorInfo{DType: "F32", Shape: shape, Offsets: [2]int{at, end}}
		at = end
	}
	return out
}

// header returns the metadata, all but its own checksum, and the table of tensors.
func (b *Bundle) header(body []byte) (map[string]string, map[string]tensorInfo, error) {
	config, err := compact("config", b.Config)
	if err != nil {
		return nil, nil, err
	}
	metrics, err := compact("metrics", b.Metrics)
	if err != nil {
		return nil, nil, err
	}
	dimensions, err := json.Marshal(nonNil(b.Dimensions))
	if err != nil {
		return nil, nil, err
	}
	normalisers, err := json.Marshal(append([]string{}, b.Normalisers...))
	if err != nil {
		return nil, nil, err
	}
	table := b.table()
	tableJSON, err := json.Marshal(table)
	if err != nil {
		return nil, nil, err
	}
	sum := sha256.Sum256(body)
	return map[string]string{
		"format":         formatName,
		"format_version": strconv.Itoa(FormatVersion),
		"id":             contentID(b, config, tableJSON, body),
		"parent":         b.Parent,
		"robot":          b.Robot,
		"task":           b.Task,
		"created_by":     b.CreatedBy,
		"dt":             formatDt(b.Dt),
		"dimensions":     string(dimensions),
		"normalisers":    string(normalisers),
		"config":         string(config),
		"data_digest":    b.DataDigest,
		"metrics":        string(metrics),
		"sha256":         hex.EncodeToString(sum[:]),
		"header_sha256":  blankSum,
	}, table, nil
}

func nonNil(m map[string]int) map[string]int {
	if m == nil {
		return map[string]int{}
	}
	return m
}

// sealHeader returns the header's JSON, padded with spaces to 8 bytes, with its own checksum in place.
func sealHeader(meta map[string]string, table map[string]tensorInfo, sign func(head []byte)) ([]byte, error) {
	entries := map[string]any{metadataName: meta}
	for name, info := range table {
		entries[name] = info
	}
	head, err := json.Marshal(entries) // sorts the keys, so the bytes are always the same
	if err != nil {
		return nil, err
	}
	for len(head)%8 != 0 {
		head = append(head, ' ')
	}
	if len(head) > maxHeader {
		return nil, fmt.Errorf("header of %d bytes, the limit is %d", len(head), maxHeader)
	}
	sign(head)
	sum := sha256.Sum256(head)
	at := bytes.Index(head, []byte(headerSum)) + len(headerSum)
	hex.Encode(head[at:at+len(blankSum)], sum[:])
	return head, nil
}
