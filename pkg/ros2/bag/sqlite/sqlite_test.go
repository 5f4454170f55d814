package sqlite

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// exec makes or changes a database by SQL.
func execSQL(t testing.TB, path string, statements ...string) {
	t.Helper()
	db, err := dial(path, "mode=rwc")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if err := db.exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func readAll(t testing.TB, r *Reader, want func(*Topic) bool) []string {
	t.Helper()
	rows, err := r.Messages(want)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var out []string
	for {
		m, err := rows.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%s@%d %s", m.Topic.Name, m.Time, m.Data))
	}
}

// The tables are those of each version of rosbag2's schema.
func TestEverySchemaVersionIsRead(t *testing.T) {
	for version := 1; version <= 4; version++ {
		columns, values := "", ""
		extra := []string{}
		if version >= 2 {
			columns += ", offered_qos_profiles TEXT NOT NULL"
			values += ", '- depth: 3'"
		}
		if version >= 3 {
			extra = append(extra, "CREATE TABLE schema(schema_version INTEGER PRIMARY KEY, ros_distro TEXT NOT NULL)",
				fmt.Sprintf("INSERT INTO schema VALUES (%d, 'iron')", version),
				"CREATE TABLE metadata(id INTEGER PRIMARY KEY, metadata_version INTEGER NOT NULL, "+
					"metadata TEXT NOT NULL)",
				"INSERT INTO metadata VALUES (1, 6, 'old')", "INSERT INTO metadata VALUES (2, 6, 'new')")
		}
		if version >= 4 {
			columns += ", type_description_hash TEXT NOT NULL"
			values += ", 'RIHS01_1'"
			extra = append(extra, "CREATE TABLE message_definitions(id INTEGER PRIMARY KEY, topic_type TEXT NOT NULL, "+
				"encoding TEXT NOT NULL, encoded_message_definition TEXT NOT NULL, "+
				"type_description_hash TEXT NOT NULL)",
				"INSERT INTO message_definitions VALUES (1, 'T', 'ros2msg', 'int8 a', 'RIHS01_1')")
		}
		path := filepath.Join(t.TempDir(), "b.db3")
		execSQL(t, path, append(extra,
			"CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL, serialization_format "+
				"TEXT NOT NULL"+columns+")",
			"CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL, timestamp INTEGER NOT NULL, "+
				"data BLOB NOT NULL)",
			"CREATE INDEX timestamp_idx ON messages (timestamp ASC)",
			"INSERT INTO topics VALUES (7, '/a', 'T', 'cdr'"+values+")",
			"INSERT INTO messages VALUES (1, 7, 30, 'third'), (2, 7, 10, 'first'), (3, 7, 20, 'second')")...)
		r, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := readAll(t, r, nil); strings.Join(got, ", ") != "/a@10 first, /a@20 second, /a@30 third" {
			t.Errorf("version %d: %q", version, got)
		}
		topic := r.Topics()[0]
		want := Topic{ID: 7, Name: "/a", Type: "T", Format: "cdr"}
		if version >= 2 {
			want.QoS = "- depth: 3"
		}
		if version >= 4 {
			want.TypeHash, want.Definition, want.Encoding = "RIHS01_1", "int8 a", "ros2msg"
		}
		if *topic != want || r.SchemaVersion != version || version >= 3 && (r.Distro != "iron" || r.Embedded != "new") {
			t.Errorf("version %d: %+v, read as version %d by %q with %q", version, *topic, r.SchemaVersion, r.Distro,
				r.Embedded)
		}
		if c, err := r.Count(); err != nil || c.Messages != 3 || c.Start != 10 || c.End != 30 {
			t.Errorf("counted %+v, %v", c, err)
		}
		r.Close()
	}
}

// make writes n messages on two topics with the Writer.
func makeDB(t testing.TB, n int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "made.db3")
	w, err := Create(path, SchemaCurrent, "jazzy")
	if err != nil {
		t.Fatal(err)
	}
	var ids []int64
	for _, name := range []string{"/a", "/b"} {
		id, err := w.AddTopic(Topic{Name: name, Type: "T", Format: "cdr"})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	for i := range n {
		if err := w.Write(ids[i%2], int64(i*10), []byte(text2(i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if left := sidecars(path); len(left) > 0 {
		t.Fatalf("%q left beside the file", left)
	}
	return path
}

func text2(i int) string { return fmt.Sprintf("message %d %s", i, strings.Repeat("x", i%300)) }

func wanted(n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("%s@%d %s", []string{"/a", "/b"}[i%2], i*10, text2(i)))
	}
	return out
}

// SQLite takes any type in any column.
func TestRowsOfTheWrongTypeAreLost(t *testing.T) {
	path := makeDB(t, 4)
	execSQL(t, path,
		"INSERT INTO messages VALUES (10, 1, 'not a time', x'00')",
		"INSERT INTO messages VALUES (11, 99, 5, x'00')",
		"INSERT INTO messages VALUES (12, 'x', 6, x'00')",
		"INSERT INTO messages VALUES (13, 1, 7, 3.5)",
		"INSERT INTO messages VALUES (14, 1, 8, 'text is as good as a blob')",
		"INSERT INTO messages VALUES (15, 1, -9, x'')")
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for range 2 {
		got := readAll(t, r, nil)
		if len(got) != 6 || got[0] != "/a@-9 " || got[2] != "/a@8 text is as good as a blob" {
			t.Errorf("%q", got)
		}
	}
	if loss := r.Loss(); loss.Messages != 4 || len(loss.Notes) != 4 {
		t.Errorf("%s %q", loss.String(), loss.Notes)
	}
	if got := readAll(t, r, func(t *Topic) bool { return t.Name == "/b" }); len(got) != 2 {
		t.Errorf("/b: %q", got)
	}
}

func TestMessagesAreSortedWithoutAnIndex(t *testing.T) {
	path := makeDB(t, 500)
	execSQL(t, path, "UPDATE messages SET timestamp = (id * 7919) % 501")
	check := func() {
		t.Helper()
		r, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		last := int64(-1)
		n := 0
		rows, err := r.Messages(nil)
		if err != nil {
			t.Fatal(err)
		}
		for ; ; n++ {
			m, err := rows.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil || m.Time < last {
				t.Fatalf("%d after %d, %v", m.Time, last, err)
			}
			last = m.Time
		}
		if loss := r.Loss(); n != 500 || loss.Any() {
			t.Errorf("%d messages, %s", n, loss.String())
		}
	}
	check()
	execSQL(t, path, "DROP INDEX timestamp_idx")
	check()
}

func TestOpenRefusesOtherDatabases(t *testing.T) {
	path := filepath.Join(t.TempDir(), "other.db3")
	execSQL(t, path, "CREATE TABLE something(a)")
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "no tables topics and messages") {
		t.Error(err)
	}
	view := filepath.Join(t.TempDir(), "view.db3")
	execSQL(t, view, "CREATE TABLE topics(id, name, type, serialization_format)",
		"CREATE VIEW messages AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM n) SELECT x AS id, 1 AS "+
			"topic_id, x AS timestamp, x AS data FROM n")
	if _, err := Open(view); err == nil {
		t.Error("a view passed for the table of messages")
	}
}

// At any number of pages.
func TestFullDiskKeepsFlushedMessages(t *testing.T) {
	for pages := 8; pages < 60; pages += 7 {
		path := filepath.Join(t.TempDir(), "full.db3")
		w, err := Create(path, SchemaCurrent, "jazzy")
		if err != nil {
			t.Fatal(err)
		}
		if err := w.db.exec(fmt.Sprintf("PRAGMA max_page_count=%d", pages)); err != nil {
			t.Fatal(err)
		}
		id, err := w.AddTopic(Topic{Name: "/a", Type: "T", Format: "cdr"})
		if err != nil {
			t.Fatal(err)
		}
		var first error
		for i := 0; i < 2000 && first == nil; i++ {
			if first = w.Write(id, int64(i), []byte(text2(i))); first == nil && i%10 == 9 {
				first = w.Flush()
			}
		}
		counts := w.Counts()
		cerr := w.Close()
		if first == nil || cerr == nil || !strings.Contains(first.Error(), "full") || cerr.Error() != first.Error() {
			t.Fatalf("%d pages: %v, then %v", pages, first, cerr)
		}
		if err := w.Write(id, 0, nil); err == nil {
			t.Error("written after the end")
		}
		r, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := readAll(t, r, nil); uint64(len(got)) != counts.Messages || counts.Messages%10 != 0 {
			t.Errorf("%d pages: %d messages flushed, %d read", pages, counts.Messages, len(got))
		}
		r.Close()
	}
}

func TestWriterRefuses(t *testing.T) {
	if _, err := Create(filepath.Join(t.TempDir(), "a.db3"), 2, ""); err == nil {
		t.Error("schema version 2")
	}
	path := makeDB(t, 1)
	if _, err := Create(path, SchemaCurrent, ""); !errors.Is(err, os.ErrExist) {
		t.Errorf("over a file: %v", err)
	}
}

func BenchmarkRead(b *testing.B) {
	path := makeDB(b, 20_000)
	st, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(st.Size())
	for b.Loop() {
		r, err := Open(path)
		if err != nil {
			b.Fatal(err)
		}
		rows, err := r.Messages(nil)
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for {
			if _, err := rows.Next(); err != nil {
				break
			}
			n++
		}
		if n != 20_000 {
			b.Fatal(n)
		}
		r.Close()
	}
}

func BenchmarkWrite(b *testing.B) {
	w, err := Create(filepath.Join(b.TempDir(), "bench.db3"), SchemaCurrent, "")
	if err != nil {
		b.Fatal(err)
	}
	id, err := w.AddTopic(Topic{Name: "/a"})
	if err != nil {
		b.Fatal(err)
	}
	data := make([]byte, 300)
	b.SetBytes(300)
	for i := int64(0); b.Loop(); i++ {
		if err := w.Write(id, i, data); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
}
