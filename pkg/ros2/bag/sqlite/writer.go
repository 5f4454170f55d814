package sqlite

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
)

// Versions of the schema that are written: 4 since ROS 2 Iron, 3 for Humble.
const (
	SchemaCurrent = 4
	SchemaHumble  = 3
)

// Writer writes one .db3 file. Flush commits all messages so far in one
// transaction of a write-ahead log, so that a killed recording stays readable.
// Close folds the log into the file.
type Writer struct {
	db     *conn
	schema int
	insert driver.Stmt
	defs   map[string]bool
	size   int64 // at the last Flush
	grown  int64 // estimate since then
	err    error // the first failed write

	flushed, pending Counts
}

const tables = `
CREATE TABLE schema(schema_version INTEGER PRIMARY KEY, ros_distro TEXT NOT NULL);
CREATE TABLE metadata(id INTEGER PRIMARY KEY, metadata_version INTEGER NOT NULL, metadata TEXT NOT NULL);
CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL,
  serialization_format TEXT NOT NULL, offered_qos_profiles TEXT NOT NULL%s);
CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL, timestamp INTEGER NOT NULL,
  data BLOB NOT NULL);
CREATE INDEX timestamp_idx ON messages (timestamp ASC);
`

const definitionTable = `
CREATE TABLE message_definitions(id INTEGER PRIMARY KEY, topic_type TEXT NOT NULL, encoding TEXT NOT NULL,
  encoded_message_definition TEXT NOT NULL, type_description_hash TEXT NOT NULL);
`

// Create starts a file, which must not exist yet.
func Create(path string, schema int, distro string) (*Writer, error) {
	if schema != SchemaCurrent && schema != SchemaHumble {
		return nil, fmt.Errorf("schema version %d is not written (%d and %d are)", schema, SchemaHumble, SchemaCurrent)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	// FULL: a commit is on the disk when it returns, also when the power goes.
	db, err := dial(path, "mode=rw&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=busy_timeout(1000)")
	if err != nil {
		return nil, err
	}
	w := &Writer{db: db, schema: schema, defs: map[string]bool{}, flushed: newCounts(), pending: newCounts()}
	if err := w.start(distro); err != nil {
		db.Close()
		return nil, err
	}
	return w, nil
}

func (w *Writer) start(distro string) error {
	sql := fmt.Sprintf(tables, "")
	if w.schema >= 4 {
		sql = fmt.Sprintf(tables, ", type_description_hash TEXT NOT NULL") + definitionTable
	}
	if err := w.db.exec("BEGIN"); err != nil {
		return err
	}
	if err := w.db.exec(sql); err != nil {
		return err
	}
	if err := w.db.exec("INSERT INTO schema VALUES (?, ?)", int64(w.schema), distro); err != nil {
		return err
	}
	var err error
	if w.insert, err = w.db.Prepare("INSERT INTO messages (topic_id, timestamp, data) VALUES (?, ?, ?)"); err != nil {
		return err
	}
	return w.Flush()
}

// AddTopic adds a topic and returns its ID; t.ID is not used.
func (w *Writer) AddTopic(t Topic) (int64, error) {
	sql, args := "INSERT INTO topics VALUES (NULL, ?, ?, ?, ?)", []any{t.Name, t.Type, t.Format, t.QoS}
	if w.schema >= 4 {
		sql, args = "INSERT INTO topics VALUES (NULL, ?, ?, ?, ?, ?)", append(args, t.TypeHash)
	}
	if err := w.try(sql, args...); err != nil {
		return 0, err
	}
	if w.schema >= 4 && t.Definition != "" && !w.defs[t.Type] {
		err := w.try("INSERT INTO message_definitions VALUES (NULL, ?, ?, ?, ?)",
			t.Type, t.Encoding, t.Definition, t.TypeHash)
		if err != nil {
			return 0, err
		}
		w.defs[t.Type] = true
	}
	var id int64
	err := w.db.each("SELECT max(id) FROM topics", func(v []driver.Value) { id, _ = v[0].(int64) })
	return id, err
}

// AddMetadata keeps a copy of the bag's metadata, as YAML.
func (w *Writer) AddMetadata(version int, yaml string) error {
	return w.try("INSERT INTO metadata VALUES (NULL, ?, ?)", int64(version), yaml)
}

// try runs one statement, unless one has failed before.
func (w *Writer) try(sql string, args ...any) error {
	if w.err == nil {
		w.err = w.db.exec(sql, args...)
	}
	return w.err
}

// Write adds a message; time is in ns since the epoch.
func (w *Writer) Write(topic, time int64, data []byte) error {
	if w.err != nil {
		return w.err
	}
	if data == nil {
		data = []byte{}
	}
	//lint:ignore SA1019 the driver's statements have no other plain Exec.
	if _, w.err = w.insert.Exec([]driver.Value{topic, time, data}); w.err == nil {
		w.pending.add(topic, time)
		w.grown += int64(len(data)) + 40 // row header and index entry
	}
	return w.err
}

// Pending is the number of messages that are not yet part of the file.
func (w *Writer) Pending() int { return int(w.pending.Messages) }

// Counts are the messages that are part of the file.
func (w *Writer) Counts() Counts { return w.flushed }

// Size is the size of the file in bytes, with an estimate for what is pending.
func (w *Writer) Size() int64 { return w.size + w.grown }

// Flush commits all messages so far.
func (w *Writer) Flush() error {
	if err := w.try("COMMIT"); err != nil {
		return err
	}
	w.flushed.absorb(&w.pending)
	w.grown = 0
	err := w.db.each("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size",
		func(v []driver.Value) { w.size, _ = v[0].(int64) })
	if err != nil {
		return err
	}
	return w.try("BEGIN")
}

// Close ends the file. After a failed write it drops pending messages; flushed
// ones stay readable.
func (w *Writer) Close() error {
	first := w.Flush()
	if first != nil {
		// Usually SQLite has rolled back already, then this fails.
		_ = w.db.exec("ROLLBACK")
	} else {
		first = w.db.exec("COMMIT")
	}
	var err error
	if w.insert != nil {
		err = w.insert.Close()
	}
	// On a full disk the log cannot be folded into the file: it stays beside it,
	// and is read with it.
	if err == nil {
		err = w.db.exec("PRAGMA wal_checkpoint(TRUNCATE)")
	}
	if err == nil {
		err = w.db.exec("PRAGMA journal_mode=DELETE")
	}
	err = errors.Join(err, w.db.Close())
	if first != nil {
		return first
	}
	return err
}
