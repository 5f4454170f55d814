// Package bundle holds the bundle: everything a robot needs to fly with what was learned, in one
// checksummed safetensors file.
//
// The file is 8 bytes of little-endian header length, a JSON header, and the tensors' bytes
// (https://huggingface.co/docs/safetensors, format 0.4). Everything but the weights is in the header's
// __metadata__, strings by strings. The same bundle always makes the same bytes. A reader refuses what
// it does not understand.
package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"
)

const (
	// FormatVersion is the only version of the file that this package writes and reads.
	FormatVersion = 1
	// MaxSize is the largest bundle file in bytes; it is also the most that travels in one message.
	MaxSize = 16 << 20
	// maxHeader caps the JSON header in bytes, so that a damaged length cannot ask for more.
	maxHeader = 1 << 20
	// idDigits is the length of an ID in hexadecimal digits.
	idDigits = 12
)

// Tensor is one named array of weights or of a normaliser's numbers.
type Tensor struct {
	Name  string
	Shape []int     // row-major; every dimension ≥ 1, none for a scalar
	Data  []float32 // product of Shape numbers, all finite
}

// Bundle is the unit that is fitted, judged, flown and rolled back. Once others read it,
// it must not be written to.
type Bundle struct {
	ID        string // 12 hexadecimal digits of the content's SHA-256; set by Encode
	Parent    string // ID of the bundle that this one was learned from; empty for the first
	Robot     string // name of the vehicle
	Task      string // name of the policy's task; empty when there is no policy
	CreatedBy string // program and version that made it

	Dt          float64         // Δt of one step, s
	Dimensions  map[string]int  // named sizes of the model, such as latent and history; each ≥ 1
	Normalisers []string        // names of the tensors that hold normalisers, not weights
	Config      json.RawMessage // an object with a section for each part, such as model and policy; opaque here
	DataDigest  string          // digest of the training data
	// an object with a section for each part: what was measured when it was made; opaque here
	Metrics json.RawMessage
	Tensors []Tensor // in the order of the file
	// Signature is set by Decode; nil: unsigned. It is of the file: Encode leaves it out.
	Signature *Signature
}

// Tensor returns the data of the named tensor, whose shape must be the given one.
func (b *Bundle) Tensor(name string, shape ...int) ([]float32, error) {
	for _, t := range b.Tensors {
		if t.Name != name {
			continue
		}
		if !equalShape(t.Shape, shape) {
			return nil, fmt.Errorf("bundle %s: tensor %q has shape %v, want %v", b.ID, name, t.Shape, shape)
		}
		return t.Data, nil
	}
	return nil, fmt.Errorf("bundle %s: no tensor %q, want one of shape %v", b.ID, name, shape)
}

// HasSection reports whether the configuration has the named section.
func (b *Bundle) HasSection(name string) bool {
	s, err := b.sections(b.Config)
	return err == nil && s[name] != nil
}

// Section decodes the named section of the configuration into the struct that into points to. A field that the struct
// does not have is an error.
func (b *Bundle) Section(name string, into any) error {
	s, err := b.sections(b.Config)
	if err != nil {
		return fmt.Errorf("bundle %s: configuration: %w", b.ID, err)
	}
	if s[name] == nil {
		return fmt.Errorf("bundle %s has no %s", b.ID, name)
	}
	dec := json.NewDecoder(bytes.NewReader(s[name]))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("bundle %s: configuration of the %s: %w", b.ID, name, err)
	}
	return nil
}

// SetSection replaces the named section of the configuration.
func (b *Bundle) SetSection(name string, from any) (err error) {
	b.Config, err = b.with(b.Config, name, from)
	return err
}

// Metric decodes the named section of the metrics into what into points to, and reports whether there is one.
func (b *Bundle) Metric(name string, into any) (found bool, err error) {
	s, err := b.sections(b.Metrics)
	if err != nil {
		return false, fmt.Errorf("metrics: %w", err)
	}
	if s[name] == nil {
		return false, nil
	}
	if err := json.Unmarshal(s[name], into); err != nil {
		return true, fmt.Errorf("metrics, %s: %w", name, err)
	}
	return true, nil
}

// SetMetrics replaces the named section of the metrics.
func (b *Bundle) SetMetrics(name string, from any) (err error) {
	b.Metrics, err = b.with(b.Metrics, name, from)
	return err
}

func (b *Bundle) with(object json.RawMessage, name string, from any) (json.RawMessage, error) {
	s, err := b.sections(object)
	if err != nil {
		return object, err
	}
	value, err := json.Marshal(from)
	if err != nil {
		return object, err
	}
	s[name] = value
	return json.Marshal(s)
}

func (b *Bundle) sections(object json.RawMessage) (map[string]json.RawMessage, error) {
	s := map[string]json.RawMessage{}
	if len(object) == 0 {
		return s, nil
	}
	if err := json.Unmarshal(object, &s); err != nil {
		return nil, err
	}
	if s == nil { // of null
		s = map[string]json.RawMessage{}
	}
	return s, nil
}

func equalShape(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// Bounds of Δt, s: those of the parameters that set it, and more.
const leastDt, mostDt = 1e-4, 1.

// check reports the first thing that must not be in a file.
func (b *Bundle) check() error {
	if !(b.Dt >= leastDt && b.Dt <= mostDt) {
		return fmt.Errorf("dt is %g s, want %g to %g s", b.Dt, leastDt, mostDt)
	}
	text := map[string]string{
		"parent": b.Parent, "robot": b.Robot, "task": b.Task, "created_by": b.CreatedBy, "data_digest": b.DataDigest,
	}
	for _, key := range metadataKeys {
		if !utf8.ValidString(text[key]) {
			return fmt.Errorf("%s %q is not UTF-8", key, text[key])
		}
	}
	for name, n := range b.Dimensions {
		if n < 1 {
			return fmt.Errorf("dimension %q is %d, want at least 1", name, n)
		}
		if !utf8.ValidString(name) {
			return fmt.Errorf("name of dimension %q is not UTF-8", name)
		}
	}
	seen := make(map[string]bool, len(b.Tensors))
	for _, t := range b.Tensors {
		if seen[t.Name] {
			return fmt.Errorf("two tensors named %q", t.Name)
		}
		seen[t.Name] = true
		if err := t.check(); err != nil {
			return err
		}
	}
	for _, name := range b.Normalisers {
		if !seen[name] {
			return fmt.Errorf("normaliser %q has no tensor", name)
		}
	}
	return nil
}

func (t *Tensor) check() error {
	if t.Name == "" || t.Name == metadataName || !utf8.ValidString(t.Name) {
		return fmt.Errorf("tensor name %q is not allowed", t.Name)
	}
	n, err := elements(t.Shape)
	if err != nil {
		return fmt.Errorf("tensor %q: %w", t.Name, err)
	}
	if n != len(t.Data) {
		return fmt.Errorf("tensor %q: shape %v needs %d numbers, has %d", t.Name, t.Shape, n, len(t.Data))
	}
	for i, x := range t.Data {
		if x*0 != 0 { // of NaN and the infinities alone it is NaN
			return fmt.Errorf("tensor %q: number %d is %g, want a finite one", t.Name, i, x)
		}
	}
	return nil
}

// elements multiplies a shape out; the product is bounded by what a file can hold.
func elements(shape []int) (int, error) {
	n := 1
	for _, d := range shape {
		if d < 1 {
			return 0, fmt.Errorf("shape %v has a dimension below 1", shape)
		}
		if d > MaxSize/4/n {
			return 0, fmt.Errorf("shape %v is more than a bundle of %d bytes can hold", shape, MaxSize)
		}
		n *= d
	}
	return n, nil
}

// contentID derives the ID from what decides how the bundle acts: Δt, configuration and tensors.
// Each part is preceded by its length, so that no two contents give the same stream.
func contentID(b *Bundle, config, table, body []byte) string {
	h := sha256.New()
	for _, part := range [][]byte{[]byte(formatDt(b.Dt)), config, table, body} {
		fmt.Fprintf(h, "%d:", len(part))
		h.Write(part)
	}
	return hex.EncodeToString(h.Sum(nil))[:idDigits]
}

func formatDt(dt float64) string { return strconv.FormatFloat(dt, 'g', -1, 64) }

// compact returns JSON without insignificant space; nothing stays nothing.
func compact(what string, raw json.RawMessage) ([]byte, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var buf bytes.Buffer
	if err := json.Compact(&buf, raw); err != nil {
		return nil, fmt.Errorf("%s is not JSON: %w", what, err)
	}
	if !utf8.Valid(buf.Bytes()) {
		return nil, fmt.Errorf("%s is not UTF-8", what)
	}
	return buf.Bytes(), nil
}
