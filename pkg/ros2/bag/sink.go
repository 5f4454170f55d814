package bag

import (
	"errors"
	"os"

	"vnd/pkg/ros2/bag/mcap"
	"vnd/pkg/ros2/bag/metadata"
	"vnd/pkg/ros2/bag/sqlite"
)

// sink writes one storage file. Topics are numbered from 0 in the order of
// addTopic.
type sink interface {
	addTopic(t Topic) error
	addMetadata(m *metadata.Metadata) error
	write(topic int, m *Message) error
	flush() error // to the disk
	Pending() int // messages not yet in the file
	Size() int64  // bytes
	span() (start, end int64, messages uint64)
	count(topic int) uint64
	close() error
}

// library is the writer's name in MCAP files. It has at least 4 bytes: libmcap
// 0.8, with which rosbag2 reads, checks the profile's length ("ros2") against it.
const library = "vnd bag"

// mcapFile is what an MCAP sink needs of its file.
type mcapFile interface {
	mcap.Output
	Sync() error
	Close() error
}

type mcapSink struct {
	*mcap.Writer
	f       mcapFile
	ids     []uint16
	schemas map[string]uint16
}

// createFile creates a file; tests replace it by a full disk.
var createFile = func(path string) (mcapFile, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
}

func createMCAP(path string, o *WriterOptions) (sink, error) {
	f, err := createFile(path)
	if err != nil {
		return nil, err
	}
	codec := o.Compression
	if codec == "none" {
		codec = mcap.None
	}
	w, err := mcap.NewWriter(f, mcap.WriterOptions{Profile: "ros2", Library: library, Compression: codec})
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &mcapSink{Writer: w, f: f, schemas: map[string]uint16{}}, nil
}

func (s *mcapSink) addTopic(t Topic) error {
	key := t.Type + "\x00" + t.DefinitionEncoding + "\x00" + t.Definition
	schema, ok := s.schemas[key]
	if !ok {
		// A type without a definition has a schema too, without an encoding:
		// readers take the type's name from it.
		var err error
		if schema, err = s.AddSchema(t.Type, t.DefinitionEncoding, []byte(t.Definition)); err != nil {
			return err
		}
		s.schemas[key] = schema
	}
	id, err := s.AddChannel(mcap.Channel{
		SchemaID: schema, Topic: t.Name, Encoding: t.Encoding,
		Metadata: map[string]string{"offered_qos_profiles": metadata.FormatQoS(t.QoS), "topic_type_hash": t.TypeHash},
	})
	s.ids = append(s.ids, id)
	return err
}

func (s *mcapSink) addMetadata(m *metadata.Metadata) error {
	values := map[string]string{"ROS_DISTRO": m.Distro}
	if m.Version > metadata.Humble {
		text, err := m.EncodeEmbedded()
		if err != nil {
			return err
		}
		values["serialized_metadata"] = string(text)
	}
	return s.Writer.AddMetadata(mcap.Metadata{Name: "rosbag2", Values: values})
}

func (s *mcapSink) write(topic int, m *Message) error {
	return s.Write(s.ids[topic], m.Sequence, uint64(m.LogTime), uint64(m.PublishTime), m.Data)
}

func (s *mcapSink) flush() error {
	if err := s.Flush(); err != nil {
		return err
	}
	return s.f.Sync()
}

func (s *mcapSink) span() (start, end int64, messages uint64) {
	a, b, n := s.Span()
	return int64(a), int64(b), n
}

func (s *mcapSink) count(topic int) uint64 { return s.Count(s.ids[topic]) }

func (s *mcapSink) close() error {
	return errors.Join(s.Close(), s.f.Sync(), s.f.Close())
}

type sqliteSink struct {
	*sqlite.Writer
	ids []int64
}

func createSQLite(path string, o *WriterOptions) (sink, error) {
	schema := sqlite.SchemaCurrent
	if o.MetadataVersion <= metadata.Humble {
		schema = sqlite.SchemaHumble
	}
	w, err := sqlite.Create(path, schema, o.Distro)
	if err != nil {
		return nil, err
	}
	return &sqliteSink{Writer: w}, nil
}

func (s *sqliteSink) addTopic(t Topic) error {
	id, err := s.AddTopic(sqlite.Topic{
		Name: t.Name, Type: t.Type, Format: t.Encoding, QoS: metadata.FormatQoS(t.QoS), TypeHash: t.TypeHash,
		Definition: t.Definition, Encoding: t.DefinitionEncoding,
	})
	s.ids = append(s.ids, id)
	return err
}

func (s *sqliteSink) addMetadata(m *metadata.Metadata) error {
	if m.Version <= metadata.Humble {
		return nil // Humble leaves the table empty
	}
	text, err := m.EncodeEmbedded()
	if err != nil {
		return err
	}
	return s.AddMetadata(m.Version, string(text))
}

func (s *sqliteSink) write(topic int, m *Message) error {
	return s.Write(s.ids[topic], m.LogTime, m.Data)
}

func (s *sqliteSink) flush() error { return s.Flush() }
func (s *sqliteSink) close() error { return s.Close() }

func (s *sqliteSink) span() (start, end int64, messages uint64) {
	c := s.Counts()
	return c.Start, c.End, c.Messages
}

func (s *sqliteSink) count(topic int) uint64 { return s.Counts().ByTopic[s.ids[topic]] }

// create creates a storage file; its name gets the storage's extension.
func (o *WriterOptions) create(stem string) (sink, error) {
	if o.Storage == SQLite {
		return createSQLite(stem+o.extension(), o)
	}
	return createMCAP(stem+o.extension(), o)
}

func (o *WriterOptions) extension() string {
	if o.Storage == SQLite {
		return ".db3"
	}
	return ".mcap"
}
