// Package metadata reads and writes rosbag2's metadata.yaml.
//
// Version 3 has compression, 4 QoS profiles as text, 5 the list of files, 6
// custom data, 7 the type hash, 8 the ROS distribution, 9 QoS profiles as a YAML
// sequence with named policies. The package reads versions 3 to 9 and writes 8,
// and 5 for ROS 2 Humble.
package metadata

import (
	"bytes"
	"errors"
	"fmt"
	"math"

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
	Version  int
	Storage  string // "mcap", "sqlite3"
	Start    int64  // ns since the epoch, of the first message
	Duration int64  // ns
	Messages uint64
	Topics   []Topic

	CompressionFormat string // "", "zstd"
	CompressionMode   string // "", "FILE", "MESSAGE"

	Paths  []string // storage files, relative to the folder
	Files  []File   // from version 5 on
	Custom map[string]string
	Distro string // of ROS, "humble"
}

// Topic is one topic of the bag.
type Topic struct {
	Name, Type string
	Format     string // of the messages: "cdr"
	QoS        []QoS
	TypeHash   string // "RIHS01_…", from version 7 on
	Messages   uint64
}

// File is one storage file.
type File struct {
	Path            string
	Start, Duration int64 // ns
	Messages        uint64
}

type yamlStamp struct {
	NS uint64 `yaml:"nanoseconds_since_epoch"`
}

type yamlSpan struct {
	NS uint64 `yaml:"nanoseconds"`
}

type yamlFile struct {
	Path     string    `yaml:"path"`
	Start    yamlStamp `yaml:"starting_time"`
	Duration yamlSpan  `yaml:"duration"`
	Messages uint64    `yaml:"message_count"`
}

type yamlTopic struct {
	Topic struct {
		Name     string  `yaml:"name"`
		Type     string  `yaml:"type"`
		Format   string  `yaml:"serialization_format"`
		QoS      qosList `yaml:"offered_qos_profiles"`
		TypeHash *string `yaml:"type_description_hash,omitempty"`
	} `yaml:"topic_metadata"`
	Messages uint64 `yaml:"message_count"`
}

// qosList is a string that holds YAML up to version 8, a sequence from 9 on.
type qosList []QoS

// UnmarshalYAML takes both forms.
func (l *qosList) UnmarshalYAML(n *yaml.Node) error {
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
func (l qosList) MarshalYAML() (any, error) { return FormatQoS(l), nil }

type yamlBag struct {
	Version  int        `yaml:"version"`
	Storage  string     `yaml:"storage_identifier"`
	Duration yamlSpan   `yaml:"duration"`
	Start    yamlStamp  `yaml:"starting_time"`
	Messages uint64     `yaml:"message_count"`
	Topics   yamlTopics `yaml:"topics_with_message_count"`
	Format   string     `yaml:"compression_format"`
	Mode     string     `yaml:"compression_mode"`
	Paths    []string   `yaml:"relative_file_paths"`
	Files    []yamlFile `yaml:"files"`
	extra    `yaml:",inline"`
}

type yamlTopics []yamlTopic

// extra are the fields that version 5 does not have.
type extra struct {
	Custom *map[string]string `yaml:"custom_data,omitempty"`
	Distro *string            `yaml:"ros_distro,omitempty"`
}

type yamlRoot struct {
	Bag *yamlBag `yaml:"rosbag2_bagfile_information"`
}

// Parse reads a metadata.yaml.
func Parse(text []byte) (*Metadata, error) {
	var root yamlRoot
	if err := yaml.Unmarshal(text, &root); err != nil {
		return nil, err
	}
	if root.Bag == nil {
		return nil, errors.New("no rosbag2_bagfile_information in it")
	}
	return root.Bag.metadata()
}

// ParseEmbedded reads the copy that newer recorders keep in the storage files: it
// lacks the outermost key.
func ParseEmbedded(text []byte) (*Metadata, error) {
	var bag yamlBag
	if err := yaml.Unmarshal(text, &bag); err != nil {
		return nil, err
	}
	return bag.metadata()
}

func (b *yamlBag) metadata() (*Metadata, error) {
	if b.Version < Oldest || b.Version > Newest {
		return nil, fmt.Errorf("version %d, read are %d to %d", b.Version, Oldest, Newest)
	}
	m := &Metadata{
		Version: b.Version, Storage: b.Storage, Start: clamp(b.Start.NS), Duration: clamp(b.Duration.NS),
		Messages: b.Messages, CompressionFormat: b.Format, CompressionMode: b.Mode, Paths: b.Paths,
	}
	if b.Custom != nil {
		m.Custom = *b.Custom
	}
	if b.Distro != nil {
		m.Distro = *b.Distro
	}
	for _, t := range b.Topics {
		out := Topic{Name: t.Topic.Name, Type: t.Topic.Type, Format: t.Topic.Format, QoS: t.Topic.QoS,
			Messages: t.Messages}
		if t.Topic.TypeHash != nil {
			out.TypeHash = *t.Topic.TypeHash
		}
		m.Topics = append(m.Topics, out)
	}
	for _, f := range b.Files {
		m.Files = append(m.Files, File{f.Path, clamp(f.Start.NS), clamp(f.Duration.NS), f.Messages})
	}
	return m, nil
}

func clamp(ns uint64) int64 { return int64(min(ns, math.MaxInt64)) }

// Encode writes a metadata.yaml of version Current or Humble.
func (m *Metadata) Encode() ([]byte, error) {
	b, err := m.yaml()
	if err != nil {
		return nil, err
	}
	return encode(yamlRoot{b})
}

// EncodeEmbedded writes the copy for storage files.
func (m *Metadata) EncodeEmbedded() ([]byte, error) {
	b, err := m.yaml()
	if err != nil {
		return nil, err
	}
	return encode(b)
}

func (m *Metadata) yaml() (*yamlBag, error) {
	if m.Version != Current && m.Version != Humble {
		return nil, fmt.Errorf("metadata version %d is not written (%d and %d are)", m.Version, Humble, Current)
	}
	b := &yamlBag{
		Version: m.Version, Storage: m.Storage, Messages: m.Messages,
		Format: m.CompressionFormat, Mode: m.CompressionMode,
		Paths: append([]string{}, m.Paths...), Files: []yamlFile{}, Topics: yamlTopics{},
	}
	b.Start.NS, b.Duration.NS = uint64(max(m.Start, 0)), uint64(max(m.Duration, 0))
	if m.Messages == 0 {
		b.Start.NS = math.MaxInt64 // as rosbag2 writes it for an empty bag
	}
	if m.Version >= 8 {
		b.Custom, b.Distro = &m.Custom, &m.Distro
	}
	for i := range m.Topics {
		t := &m.Topics[i]
		out := yamlTopic{Messages: t.Messages}
		out.Topic.Name, out.Topic.Type, out.Topic.Format, out.Topic.QoS = t.Name, t.Type, t.Format, t.QoS
		if m.Version >= 7 {
			out.Topic.TypeHash = &t.TypeHash
		}
		b.Topics = append(b.Topics, out)
	}
	for _, f := range m.Files {
		start, duration := uint64(max(f.Start, 0)), uint64(max(f.Duration, 0))
		b.Files = append(b.Files, yamlFile{f.Path, yamlStamp{start}, yamlSpan{duration}, f.Messages})
	}
	return b, nil
}

// encode indents by two columns, as rosbag2 does.
func encode(v any) ([]byte, error) {
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	err := e.Encode(v)
	return out.Bytes(), err
}
