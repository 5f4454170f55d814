package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sort"
	"strconv"
)

var errDamaged = errors.New("the file is damaged")

// Decode reads a bundle's bytes. The name, of a file or a topic, opens every error. Nothing is allocated
// before the bytes that fill it were seen.
func Decode(name string, data []byte) (*Bundle, error) {
	b, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return b, nil
}

func decode(data []byte) (*Bundle, error) {
	head, body, err := split(data)
	if err != nil {
		return nil, err
	}
	h, err := parseHeader(head)
	if err != nil {
		return nil, err
	}
	if err := h.checkFormat(); err != nil {
		return nil, err
	}
	if err := h.checkSum(head); err != nil {
		return nil, err
	}
	b, err := h.bundle()
	if err != nil {
		return nil, err
	}
	if b.Signature, err = h.signature(head); err != nil {
		return nil, err
	}
	if err := h.checkLayout(len(body)); err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(body); hex.EncodeToString(sum[:]) != h.meta["sha256"] {
		return nil, fmt.Errorf("SHA-256 of the tensors does not match: %w", errDamaged)
	}
	b.Tensors = h.read(body)
	if err := b.check(); err != nil {
		return nil, err
	}
	return b, b.checkID(h.meta["id"], body)
}

// split separates header and tensors.
func split(data []byte) (head, body []byte, err error) {
	if len(data) > MaxSize {
		return nil, nil, fmt.Errorf("%d bytes, a bundle has at most %d", len(data), MaxSize)
	}
	if len(data) < 8 {
		return nil, nil, fmt.Errorf("truncated: %d bytes, want 8 for the header's length", len(data))
	}
	n := binary.LittleEndian.Uint64(data)
	if n > maxHeader {
		return nil, nil, fmt.Errorf("not a bundle or damaged: header of %d bytes, the limit is %d", n, maxHeader)
	}
	if n > uint64(len(data)-8) {
		return nil, nil, fmt.Errorf("truncated: header of %d bytes, %d follow", n, len(data)-8)
	}
	return data[8 : 8+n], data[8+n:], nil
}

// namedInfo is a tensor's entry and its name.
type namedInfo struct {
	name string
	tensorInfo
}

// header is the parsed JSON header.
type header struct {
	meta    map[string]string
	tensors []namedInfo // in the order of the JSON until checkLayout sorts them
}

// checkFormat comes first: of another version nothing else is known.
func (h *header) checkFormat() error {
	if h.meta == nil {
		return fmt.Errorf("not a vnd bundle: the header has no %s", metadataName)
	}
	if f := h.meta["format"]; f != formatName {
		return fmt.Errorf("not a vnd bundle: format is %q, want %q", f, formatName)
	}
	v, err := strconv.Atoi(h.meta["format_version"])
	if err != nil || v < 1 {
		return fmt.Errorf("format version %q is not a version", h.meta["format_version"])
	}
	if v != FormatVersion {
		return fmt.Errorf("format version %d, this program reads version %d", v, FormatVersion)
	}
	return nil
}

// checkSum compares the header's bytes with the checksum that stands in them.
func (h *header) checkSum(head []byte) error {
	at := bytes.Index(head, []byte(headerSum)) + len(headerSum)
	if bytes.Count(head, []byte(headerSum)) != 1 || len(head)-at < len(blankSum) {
		return errors.New("the header has no header_sha256 where one belongs")
	}
	blank := bytes.Clone(head)
	copy(blank[at:], blankSum)
	sum := sha256.Sum256(blank)
	if hex.EncodeToString(sum[:]) != h.meta["header_sha256"] {
		return fmt.Errorf("SHA-256 of the header does not match: %w", errDamaged)
	}
	return nil
}

// bundle turns the metadata into a bundle without tensors.
func (h *header) bundle() (*Bundle, error) {
	for _, key := range metadataKeys {
		if _, ok := h.meta[key]; !ok {
			return nil, fmt.Errorf("metadata has no %q", key)
		}
	}
	if key := h.unknownKey(); key != "" {
		return nil, fmt.Errorf("metadata key %q is not known to this program", key)
	}
	b := &Bundle{
		ID: h.meta["id"], Parent: h.meta["parent"], Robot: h.meta["robot"], Task: h.meta["task"],
		CreatedBy: h.meta["created_by"], DataDigest: h.meta["data_digest"],
	}
	var err error
	if b.Dt, err = strconv.ParseFloat(h.meta["dt"], 64); err != nil {
		return nil, fmt.Errorf("metadata dt %q is not a number", h.meta["dt"])
	}
	if err := json.Unmarshal([]byte(h.meta["dimensions"]), &b.Dimensions); err != nil {
		return nil, fmt.Errorf("metadata dimensions: %w", err)
	}
	if err := json.Unmarshal([]byte(h.meta["normalisers"]), &b.Normalisers); err != nil {
		return nil, fmt.Errorf("metadata normalisers: %w", err)
	}
	if b.Config, err = compact("metadata config", json.RawMessage(h.meta["config"])); err != nil {
		return nil, err
	}
	if b.Metrics, err = compact("metadata metrics", json.RawMessage(h.meta["metrics"])); err != nil {
		return nil, err
	}
	return b, nil
}

// checkLayout wants the tensors side by side, covering all n bytes, each as long as its shape says.
func (h *header) checkLayout(n int) error {
	sort.SliceStable(h.tensors, func(i, j int) bool { return h.tensors[i].Offsets[0] < h.tensors[j].Offsets[0] })
	at := 0
	for _, t := range h.tensors {
		begin, end := t.Offsets[0], t.Offsets[1]
		if t.DType != "F32" {
			return fmt.Errorf("tensor %q: dtype %q is not known to this program, want F32", t.name, t.DType)
		}
		want, err := elements(t.Shape)
		if err != nil {
			return fmt.Errorf("tensor %q: %w", t.name, err)
		}
		if begin != at {
			return fmt.Errorf("tensor %q: begins at byte %d, want %d: tensors overlap or leave a hole", t.name, begin,
				at)
		}
		if end < begin || end-begin != 4*want {
			return fmt.Errorf("tensor %q: bytes %d to %d, want %d for shape %v", t.name, begin, end, 4*want, t.Shape)
		}
		if end > n {
			return fmt.Errorf("truncated: tensor %q ends at byte %d of %d", t.name, end, n)
		}
		at = end
	}
	if at != n {
		return fmt.Errorf("%d bytes after the last tensor", n-at)
	}
	return nil
}

// read copies the tensors out; checkLayout has passed.
func (h *header) read(body []byte) []Tensor {
	out := make([]Tensor, len(h.tensors))
	for i, t := range h.tensors {
		data := make([]float32, (t.Offsets[1]-t.Offsets[0])/4)
		for j := range data {
			data[j] = math.Float32frombits(binary.LittleEndian.Uint32(body[t.Offsets[0]+4*j:]))
		}
		out[i] = Tensor{Name: t.name, Shape: t.Shape, Data: data}
	}
	return out
}

// checkID derives the ID again.
func (b *Bundle) checkID(id string, body []byte) error {
	table, err := json.Marshal(b.table())
	if err != nil {
		return err
	}
	if want := contentID(b, b.Config, table, body); id != want {
		return fmt.Errorf("id %q does not fit the content, want %q", id, want)
	}
	return nil
}
