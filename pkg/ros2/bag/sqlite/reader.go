// Package sqlite reads and writes rosbag2's SQLite storage, the .db3 files.
//
// It reads schema versions 1 to 4, also with a killed recorder's write-ahead log
// or journal. From a file with damaged pages it returns every row that is
// readable, and counts the others. It writes versions 4 and 3.
package sqlite

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"strings"

	"vnd/pkg/ros2/bag/loss"
	"vnd/pkg/ros2/bag/sqlite/table"
)

// Topic is a row of the table topics, with its type's definition.
type Topic = table.Topic

// Message is a row of the table messages. Its data are valid until the next
// call of Next.
type Message = table.Message

// Reader reads one .db3 file. It is not safe for concurrent use.
type Reader struct {
	SchemaVersion int    // 1 to 4
	Distro        string // the recorder's ROS distribution, from version 3 on
	Embedded      string // newest copy of the bag's metadata in the file, as YAML, or ""

	db      *conn
	temp    string // folder of a copy
	tables  *table.Tables
	ordered string         // name of an index on the time, "" when there is none
	salvage bool           // the file is damaged: rows are searched one by one
	gaps    map[int64]bool // rows after which a damaged range was counted
}

// Open opens a file for reading. It fails for a file that is not an SQLite
// database with rosbag2's tables. A database without any table is a recording
// that was killed before its first commit: a reader without topics.
func Open(path string) (*Reader, error) {
	r := &Reader{tables: table.New(), gaps: map[int64]bool{}}
	if st, err := os.Stat(path); err != nil {
		return nil, err
	} else if st.Size() == 0 && len(sidecars(path)) == 0 {
		r.empty("0 bytes: killed before the first write")
		return r, nil
	}
	src, err := openForReading(path)
	if err != nil {
		return nil, fmt.Errorf("not a readable SQLite database: %w", err)
	}
	r.db, r.temp = src.conn, src.temp
	if src.bad > 0 {
		r.tables.Loss.Chunks += uint64(src.bad)
		r.tables.Loss.Note("%d pages of the write-ahead log have wrong checksums: read all the same", src.bad)
	}
	if err := r.readSchema(); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

func (r *Reader) empty(why string) {
	r.SchemaVersion = 4
	r.tables.Loss.Truncated = true
	r.tables.Loss.Note("%s", why)
	if r.db != nil {
		r.db.Close()
		r.db = nil
	}
}

// Close closes the database.
func (r *Reader) Close() error {
	var err error
	if r.db != nil {
		err = r.db.Close()
		r.db = nil
	}
	if r.temp != "" {
		err = errors.Join(err, os.RemoveAll(r.temp))
		r.temp = ""
	}
	return err
}

// Topics lists the topics by ID.
func (r *Reader) Topics() []*Topic { return r.tables.Topics }

// Loss counts what was missing or damaged so far.
func (r *Reader) Loss() loss.Loss { return r.tables.Loss }

func (r *Reader) readSchema() error {
	tables := map[string]bool{}
	err := r.db.each("SELECT name FROM sqlite_master WHERE type = 'table'", func(v []driver.Value) {
		tables[table.Text(v[0])] = true
	})
	switch {
	case err != nil:
		return err
	case len(tables) == 0:
		r.empty("no tables: killed before the first commit")
		return nil
	case !tables["topics"] || !tables["messages"]:
		return errors.New("not a rosbag2 database: no tables topics and messages in it")
	}
	columns, err := r.columns("topics")
	if err != nil {
		return err
	}
	r.SchemaVersion = 1
	if columns["offered_qos_profiles"] {
		r.SchemaVersion = 2
	}
	if tables["schema"] {
		err := r.db.each("SELECT schema_version, ros_distro FROM schema", func(v []driver.Value) {
			if n, ok := v[0].(int64); ok {
				r.SchemaVersion = int(n)
			}
			r.Distro = table.Text(v[1])
		})
		if err != nil {
			return err
		}
	}
	if tables["metadata"] {
		// The copy is optional: a broken one is ignored.
		_ = r.db.each("SELECT metadata FROM metadata ORDER BY id DESC LIMIT 1", func(v []driver.Value) {
			r.Embedded = table.Text(v[0])
		})
	}
	if err := r.readTopics(columns); err != nil {
		return err
	}
	if tables["message_definitions"] {
		r.readDefinitions()
	}
	return r.findIndex()
}

func (r *Reader) columns(of string) (map[string]bool, error) {
	names := map[string]bool{}
	err := r.db.each("SELECT name FROM pragma_table_info(?)", func(v []driver.Value) { names[table.Text(v[0])] = true },
		of)
	return names, err
}

func (r *Reader) readTopics(has map[string]bool) error {
	pick := []string{"id", "name", "type", "serialization_format", "''", "''"}
	if has["offered_qos_profiles"] {
		pick[4] = "offered_qos_profiles"
	}
	if has["type_description_hash"] {
		pick[5] = "type_description_hash"
	}
	return r.db.each("SELECT "+strings.Join(pick, ", ")+" FROM topics ORDER BY id", r.tables.AddTopic)
}

// readDefinitions adds the definitions, which are optional.
func (r *Reader) readDefinitions() {
	err := r.db.each("SELECT topic_type, encoding, encoded_message_definition FROM message_definitions ORDER BY id",
		r.tables.AddDefinition)
	if err != nil {
		r.tables.Loss.Note("message definitions: %v", err)
	}
}

// findIndex looks for an index that begins with the time.
func (r *Reader) findIndex() error {
	return r.db.each("SELECT l.name FROM pragma_index_list('messages') l, pragma_index_info(l.name) i "+
		"WHERE i.seqno = 0 AND i.name = 'timestamp' AND l.partial = 0",
		func(v []driver.Value) { r.ordered = table.Text(v[0]) })
}

// Counts are numbers and times of messages.
type Counts struct {
	Messages   uint64
	Start, End int64            // ns since the epoch, of the first and the last message
	ByTopic    map[int64]uint64 // messages, by topic ID
}

func newCounts() Counts { return Counts{ByTopic: map[int64]uint64{}} }

// add counts a message.
func (c *Counts) add(topic, time int64) {
	if c.Messages == 0 {
		c.Start, c.End = time, time
	}
	c.Start, c.End = min(c.Start, time), max(c.End, time)
	c.Messages++
	c.ByTopic[topic]++
}

// absorb adds other counts and sets them to zero.
func (c *Counts) absorb(o *Counts) {
	if o.Messages == 0 {
		return
	}
	if c.Messages == 0 {
		c.Start, c.End = o.Start, o.End
	}
	c.Start, c.End = min(c.Start, o.Start), max(c.End, o.End)
	c.Messages += o.Messages
	for id, n := range o.ByTopic {
		c.ByTopic[id] += n
	}
	clear(o.ByTopic)
	o.Messages = 0
}

// Count reads all rows, without their data, and so finds most damage.
func (r *Reader) Count() (Counts, error) {
	c := newCounts()
	if r.db == nil {
		return c, nil
	}
	var seen uint64
	err := r.list(func(_, topic, time int64) { c.add(topic, time) }, &seen)
	if err != nil {
		return c, err
	}
	// An index that misses rows of the table would hide them from reading.
	if r.ordered != "" {
		var indexed int64
		err := r.db.each("SELECT count(*) FROM messages INDEXED BY "+quote(r.ordered),
			func(v []driver.Value) { indexed, _ = v[0].(int64) })
		r.salvage = r.salvage || err != nil || uint64(indexed) != seen
	}
	return c, nil
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
