package bag

import (
	"math"
	"os"

	"vnd/pkg/ros2/bag/mcap"
	"vnd/pkg/ros2/bag/metadata"
	"vnd/pkg/ros2/bag/sqlite"
)

// storage reads one storage file.
type storage interface {
	topics() []Topic // with their counts, when counted
	// span returns the times of the first and the last message, and how many
	// there are. ok is false when count has to be called first.
	span() (start, end int64, messages uint64, ok bool)
	count() error
	messages(want func(topic string) bool) (cursor, error)
	Loss() Loss
	embedded() *metadata.Metadata // the copy in the file, or nil
	close() error
}

// cursor iterates over the messages of one file in the order of their log times.
type cursor interface {
	next() (*Message, error)
	close()
}

// mcapStorage reads an MCAP file.
type mcapStorage struct {
	*mcap.Reader
	f *os.File
}

func openMCAP(path string) (storage, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	r, err := mcap.NewReader(f, st.Size())
	if err != nil {
		f.Close()
		return nil, err
	}
	return &mcapStorage{r, f}, nil
}

func (s *mcapStorage) topics() []Topic {
	var out []Topic
	for _, c := range s.Channels() {
		t := Topic{Name: c.Topic, Encoding: c.Encoding, TypeHash: c.Metadata["topic_type_hash"], Count: s.Count(c)}
		// A malformed profile is ignored: metadata.yaml has it too.
		t.QoS, _ = metadata.ParseQoS(c.Metadata["offered_qos_profiles"])
		if sc := s.Schema(c); sc != nil {
			t.Type, t.Definition, t.DefinitionEncoding = sc.Name, string(sc.Data), sc.Encoding
		}
		out = append(out, t)
	}
	return out
}

func (s *mcapStorage) span() (start, end int64, messages uint64, ok bool) {
	a, b, n := s.Span()
	return clampTime(a), clampTime(b), n, true
}

func (s *mcapStorage) count() error { return nil }

func (s *mcapStorage) embedded() *metadata.Metadata {
	var out *metadata.Metadata
	for _, m := range s.Metadata() {
		if m.Name != "rosbag2" {
			continue
		}
		if in, err := metadata.ParseEmbedded([]byte(m.Values["serialized_metadata"])); err == nil {
			out = in
		}
		if d := m.Values["ROS_DISTRO"]; d != "" {
			if out == nil {
				out = &metadata.Metadata{}
			}
			out.Distro = d
		}
	}
	return out
}

func (s *mcapStorage) close() error {
	s.Close()
	return s.f.Close()
}

// mcapCursor converts MCAP messages.
type mcapCursor struct {
	it    *mcap.Iterator
	types []string // by channel ID
	msg   Message
}

func (s *mcapStorage) messages(want func(string) bool) (cursor, error) {
	c := &mcapCursor{it: s.Messages(func(c *mcap.Channel) bool { return want(c.Topic) })}
	for _, ch := range s.Channels() {
		if sc := s.Schema(ch); sc != nil {
			c.types = append(c.types, make([]string, int(ch.ID)+1-len(c.types))...)
			c.types[ch.ID] = sc.Name
		}
	}
	return c, nil
}

func (c *mcapCursor) next() (*Message, error) {
	m, err := c.it.Next()
	if err != nil {
		return nil, err
	}
	c.msg = Message{
		Topic: m.Channel.Topic, LogTime: clampTime(m.LogTime), PublishTime: clampTime(m.PublishTime),
		Sequence: m.Sequence, Data: m.Data,
	}
	if int(m.Channel.ID) < len(c.types) {
		c.msg.Type = c.types[m.Channel.ID]
	}
	return &c.msg, nil
}

func (c *mcapCursor) close() {}

func clampTime(ns uint64) int64 { return int64(min(ns, math.MaxInt64)) }

// sqliteStorage reads a .db3 file.
type sqliteStorage struct {
	*sqlite.Reader
	counts *sqlite.Counts // nil: not counted yet
}

func openSQLite(path string) (storage, error) {
	r, err := sqlite.Open(path)
	if err != nil {
		return nil, err
	}
	return &sqliteStorage{Reader: r}, nil
}

func (s *sqliteStorage) topics() []Topic {
	var out []Topic
	for _, t := range s.Topics() {
		b := Topic{
			Name: t.Name, Type: t.Type, Encoding: t.Format, TypeHash: t.TypeHash,
			Definition: t.Definition, DefinitionEncoding: t.Encoding,
		}
		b.QoS, _ = metadata.ParseQoS(t.QoS)
		if s.counts != nil {
			b.Count = s.counts.ByTopic[t.ID]
		}
		out = append(out, b)
	}
	return out
}

func (s *sqliteStorage) span() (start, end int64, messages uint64, ok bool) {
	if s.counts != nil {
		return s.counts.Start, s.counts.End, s.counts.Messages, true
	}
	return 0, 0, 0, false
}

func (s *sqliteStorage) count() error {
	c, err := s.Count()
	s.counts = &c
	return err
}

func (s *sqliteStorage) embedded() *metadata.Metadata {
	m, err := metadata.ParseEmbedded([]byte(s.Embedded))
	if err != nil {
		m = &metadata.Metadata{}
	}
	if s.Distro != "" {
		m.Distro = s.Distro
	}
	return m
}

func (s *sqliteStorage) close() error { return s.Close() }

type sqliteCursor struct {
	rows *sqlite.Rows
	msg  Message
}

func (s *sqliteStorage) messages(want func(string) bool) (cursor, error) {
	rows, err := s.Messages(func(t *sqlite.Topic) bool { return want(t.Name) })
	return &sqliteCursor{rows: rows}, err
}

func (c *sqliteCursor) next() (*Message, error) {
	m, err := c.rows.Next()
	if err != nil {
		return nil, err
	}
	c.msg = Message{Topic: m.Topic.Name, Type: m.Topic.Type, LogTime: m.Time, PublishTime: m.Time, Data: m.Data}
	return &c.msg, nil
}

func (c *sqliteCursor) close() { c.rows.Close() }
