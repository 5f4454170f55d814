// Package metadata reads and writes rosbag2's metadata.yaml.
//
// The package reads versions 3 to 9. It writes 8, and 5 for ROS 2 Humble. What each
// version added:
//   - 3: compression
//   - 4: QoS profiles as text
//   - 5: the list of files
//   - 6: custom data
//   - 7: the type hash
//   - 8: the ROS distribution
//   - 9: QoS profiles as a YAML sequence with named policies
package metadata

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"

	"gopkg.in/yaml.v3"
)

const (
	// Oldest and Newest versions that are read.
	Oldest, Newest = 3, 9
	// Current is the version written by default, Humble the newest that ROS 2
	// Humble reads.
	Current, Humble = 8, 5

	// FileName is the name of the file within a bag's folder.
	FileName = "metadata.yaml"
	// MaxSize is the largest file that is read.
	MaxSize = 16 << 20
)

// Metadata is the content of a bag's metadata.yaml.
type Metadata struct {
	Version  int     `yaml:"version"`
	Storage  string  `yaml:"storage_identifier"` // "mcap", "sqlite3"
	Duration Span    `yaml:"duration"`
	Start    Time    `yaml:"starting_time"` // of the first message
	Messages uint64  `yaml:"message_count"`
	Topics   []Topic `yaml:"topics_with_message_count"`

	CompressionFormat string `yaml:"compression_format"` // "", "zstd"
	CompressionMode   string `yaml:"compression_mode"`   // "", "FILE", "MESSAGE"

	Paths  []string          `yaml:"relative_file_paths"` // storage files
	Files  []File            `yaml:"files"`               // from version 5 on
	Custom map[string]string `yaml:"custom_data"`
	Distro string            `yaml:"ros_distro"` // "humble"
}

// Topic is one topic of the bag.
type Topic struct {
	Type     TopicType `yaml:"topic_metadata"`
	Messages uint64    `yaml:"message_count"`
}

// TopicType describes the messages of a topic.
type TopicType struct {
	Name     string  `yaml:"name"`
	Type     string  `yaml:"type"`
	Format   string  `yaml:"serialization_format"` // "cdr"
	QoS      QoSList `yaml:"offered_qos_profiles"`
	TypeHash string  `yaml:"type_description_hash"` // "RIHS01_…", from version 7 on
}

// File is one storage file.
type File struct {
	Path     string `yaml:"path"`
	Start    Time   `yaml:"starting_time"`
	Duration Span   `yaml:"duration"`
	Messages uint64 `yaml:"message_count"`
}

// Time in ns since the epoch.
type Time int64

// Span is a duration in ns.
type Span int64

type yamlTime struct {
	NS uint64 `yaml:"nanoseconds_since_epoch"`
}

type yamlSpan struct {
	NS uint64 `yaml:"nanoseconds"`
}

// UnmarshalYAML reads a mapping with one key.
func (t *Time) UnmarshalYAML(n *yaml.Node) error {
	var in yamlTime
	err := n.Decode(&in)
	*t = Time(min(in.NS, math.MaxInt64))
	return err
}

// MarshalYAML writes a mapping with one key.
func (t Time) MarshalYAML() (any, error) { return yamlTime{uint64(max(t, 0))}, nil }

// UnmarshalYAML reads a mapping with one key.
func (s *Span) UnmarshalYAML(n *yaml.Node) error {
	var in yamlSpan
	err := n.Decode(&in)
	*s = Span(min(in.NS, math.MaxInt64))
	return err
}

// MarshalYAML writes a mapping with one key.
func (s Span) MarshalYAML() (any, error) { return yamlSpan{uint64(max(s, 0))}, nil }

// QoSList is a string that holds YAML up to version 8, a sequence from 9 on.
type QoSList []QoS

// UnmarshalYAML reads both forms.
func (l *QoSList) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		q, err := ParseQoS(n.Value)
		*l = q
		if err != nil {
			return fmt.Errorf("line %d: %w", n.Line, err)
		}
		return nil
	}
	var in []yamlQoS
	err := n.Decode(&in)
	*l = fromYAML(in)
	return err
}

// MarshalYAML writes the string.
func (l QoSList) MarshalYAML() (any, error) { return FormatQoS(l), nil }

type root struct {
	Bag *Metadata `yaml:"rosbag2_bagfile_information"`
}

// Parse reads a metadata.yaml.
func Parse(text []byte) (*Metadata, error) {
	var r root
	if err := yaml.Unmarshal(text, &r); err != nil {
		return nil, err
	}
	if r.Bag == nil {
		return nil, errors.New("no rosbag2_bagfile_information in it")
	}
	return r.Bag.checked()
}

// ParseEmbedded reads the copy that newer recorders keep in the storage files: it
// lacks the outermost key.
func ParseEmbedded(text []byte) (*Metadata, error) {
	m := new(Metadata)
	if err := yaml.Unmarshal(text, m); err != nil {
		return nil, err
	}
	return m.checked()
}

func (m *Metadata) checked() (*Metadata, error) {
	if m.Version < Oldest || m.Version > Newest {
		return nil, fmt.Errorf("version %d, read are %d to %d", m.Version, Oldest, Newest)
	}
	return m, nil
}

// Encode writes a metadata.yaml of version Current or Humble.
func (m *Metadata) Encode() ([]byte, error) {
	return m.encode(func(m *Metadata) any { return root{m} })
}

// EncodeEmbedded writes the copy for storage files.
func (m *Metadata) EncodeEmbedded() ([]byte, error) {
	return m.encode(func(m *Metadata) any { return m })
}

func (m *Metadata) encode(wrap func(*Metadata) any) ([]byte, error) {
	if m.Version != Current && m.Version != Humble {
		return nil, fmt.Errorf("metadata version %d is not written (%d and %d are)", m.Version, Humble, Current)
	}
	whole := *m
	if m.Messages == 0 {
		whole.Start = math.MaxInt64 // as rosbag2 writes it for an empty bag
	}
	var n yaml.Node
	if err := n.Encode(wrap(&whole)); err != nil {
		return nil, err
	}
	if m.Version == Humble {
		remove(&n, "custom_data", "ros_distro", "type_description_hash")
	}
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(2) // as rosbag2 does
	err := e.Encode(&n)
	return out.Bytes(), err
}

// remove removes keys from all mappings.
func remove(n *yaml.Node, keys ...string) {
	for i := 0; i < len(n.Content); i++ {
		if n.Kind == yaml.MappingNode && i%2 == 0 && slices.Contains(keys, n.Content[i].Value) {
			n.Content = slices.Delete(n.Content, i, i+2)
			i--
			continue
		}
		remove(n.Content[i], keys...)
	}
}
