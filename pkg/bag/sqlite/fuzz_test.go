package sqlite

import (
	"bytes"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// tape makes rows out of fuzzed bytes.
type tape []byte

func (t *tape) take(n int) []byte {
	n = min(n, len(*t))
	out := (*t)[:n:n]
	*t = (*t)[n:]
	return out
}

func (t *tape) byte() byte {
	if b := t.take(1); len(b) > 0 {
		return b[0]
	}
	return 0
}

// value is one of the five types that SQLite has.
func (t *tape) value() driver.Value {
	switch kind := t.byte(); kind % 6 {
	case 0: // small numbers, so that rows meet
		return int64(int8(t.byte()))
	case 1:
		var n [8]byte
		copy(n[:], t.take(8))
		return int64(binary.LittleEndian.Uint64(n[:]))
	case 2:
		return string(t.take(int(t.byte())))
	case 3:
		return t.take(int(t.byte()))
	case 4:
		return float64(t.byte())
	}
	return nil
}

func (t *tape) row(columns int) []driver.Value {
	v := make([]driver.Value, columns)
	for i := range v {
		v[i] = t.value()
	}
	return v
}

// FuzzRows: the tables' rows, with values of any type in any column, are topics, definitions, messages or counted losses;
// what a row is does not depend on how often it was read.
func FuzzRows(f *testing.F) {
	f.Add([]byte("\x00\x00\x04\x02\x05jazzy\x01\x00\x01\x02\x02/a\x02\x01T\x02\x03cdr\x02\x00\x02\x06RIHS01\x02\x02\x01T\x02\x01m\x02\x04text" +
		"\x03\x00\x05\x00\x01\x01\x08\x07\x06\x05\x04\x03\x02\x01\x03\x04data\x03\x00\x06\x00\x02\x00\x01\x05"))
	f.Add([]byte("\x01\x00\x01\x02\x02/a\x02\x01T\x02\x03cdr\x05\x05\x01\x00\x01\x05\x05\x05\x05\x05\x03\x00\x01\x00\x01\x02\x01x\x03\x01x"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := &Reader{byID: map[int64]*Topic{}, bad: map[int64]bool{}}
		lost := map[int64]bool{}
		for in := tape(data); len(in) > 0; {
			switch in.byte() % 4 {
			case 0:
				r.takeSchema(in.row(2))
			case 1:
				r.takeTopic(in.row(6))
			case 2:
				r.takeDefinition(in.row(3))
			case 3:
				checkRow(t, r, in.row(4), lost)
			}
		}
		for _, topic := range r.topics {
			if r.byID[topic.ID] != topic {
				t.Fatalf("two topics of ID %d", topic.ID)
			}
		}
		if loss := r.Loss(); loss.Messages != uint64(len(lost)) || len(loss.Notes) > 16 {
			t.Fatalf("%d rows lost, counted are %d with %d notes", len(lost), loss.Messages, len(loss.Notes))
		}
	})
}

// checkRow reads a row of the table messages twice.
func checkRow(t *testing.T, r *Reader, v []driver.Value, lost map[int64]bool) {
	var m, again Message
	ok := r.decode(v, &m)
	if ok != r.decode(v, &again) || m.Topic != again.Topic || m.Time != again.Time || !bytes.Equal(m.Data, again.Data) {
		t.Fatalf("%v is %+v, then %+v", v, m, again)
	}
	row, _ := v[0].(int64)
	id, isID := v[1].(int64)
	time, isTime := v[2].(int64)
	text, isText := v[3].(string)
	blob, isBlob := v[3].([]byte)
	if right := isID && r.byID[id] != nil && isTime && (isText || isBlob); ok != right {
		t.Fatalf("%v: taken %v", v, ok)
	}
	if !ok {
		lost[row] = true
	} else if m.Topic != r.byID[id] || m.Row != row || m.Time != time || string(m.Data) != text+string(blob) {
		t.Fatalf("%v became %+v", v, m)
	}
	if _, _, placed := r.placed(row, v[1], v[2]); ok && !placed {
		t.Fatalf("%v is a message without a place", v)
	}
}

// FuzzWAL: of any bytes, the frames up to the last completed transaction are a log without a wrong checksum once mended.
func FuzzWAL(f *testing.F) {
	log := makeWAL(f)
	f.Add(log)
	f.Add(log[:len(log)-100])
	big := bytes.Clone(log)
	big[3] ^= 1 // sums over words of the other order
	f.Add(big)
	torn := bytes.Clone(log)
	torn[walHead+frameHead+7] ^= 1
	f.Add(torn)
	f.Fuzz(func(t *testing.T, log []byte) {
		bad, keep, err := checkWAL(bytes.NewReader(log))
		if err != nil {
			t.Fatal(err)
		}
		var mended bytes.Buffer
		if err := mendWAL(&mended, bytes.NewReader(log), keep); err != nil {
			t.Fatal(err)
		}
		if left, kept, err := checkWAL(bytes.NewReader(mended.Bytes())); left != 0 || kept != keep || err != nil || mended.Len() > len(log) {
			t.Fatalf("%d of %d frames were wrong; mended, %d of %d are, %v", bad, keep, left, kept, err)
		}
	})
}

// makeWAL is the log of two commits, in pages of 512 bytes.
func makeWAL(t testing.TB) []byte {
	path := filepath.Join(t.TempDir(), "log.db3")
	c, err := dial(path, "_pragma=page_size(512)&_pragma=journal_mode(WAL)")
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(c.exec("CREATE TABLE t(a)"), c.exec("INSERT INTO t VALUES (1)"))
	log, rerr := os.ReadFile(path + "-wal")
	if err := errors.Join(err, rerr, c.Close()); err != nil {
		t.Fatal(err)
	}
	if _, keep, err := checkWAL(bytes.NewReader(log)); keep < 2 || err != nil {
		t.Fatalf("%d frames in %d bytes, %v", keep, len(log), err)
	}
	return log
}

// FuzzDatabase: any file, with any write-ahead log beside it, is an error or a
// bag that reads the same twice.
func FuzzDatabase(f *testing.F) {
	db, err := os.ReadFile(makeDB(f, 10))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(db, []byte(nil))
	path := filepath.Join(f.TempDir(), "log.db3")
	w, err := Create(path, SchemaHumble, "humble")
	if err != nil {
		f.Fatal(err)
	}
	id, err := w.AddTopic(Topic{Name: "/a", Type: "T", Format: "cdr"})
	if err != nil {
		f.Fatal(err)
	}
	if err := errors.Join(w.Write(id, 1, []byte("one")), w.Flush()); err != nil {
		f.Fatal(err)
	}
	db, err1 := os.ReadFile(path)
	log, err2 := os.ReadFile(path + "-wal")
	if err := errors.Join(err1, err2, w.Close()); err != nil {
		f.Fatal(err)
	}
	f.Add(db, log)
	f.Fuzz(func(t *testing.T, db, log []byte) {
		path := filepath.Join(t.TempDir(), "f.db3")
		if err := os.WriteFile(path, db, 0o644); err != nil {
			t.Fatal(err)
		}
		if len(log) > 0 {
			if err := os.WriteFile(path+"-wal", log, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		r, err := Open(path)
		if err != nil {
			return
		}
		defer r.Close()
		if _, err := r.Count(); err != nil {
			return
		}
		first, err := fuzzRead(r)
		if err != nil {
			return
		}
		second, err := fuzzRead(r)
		if err != nil || !slices.Equal(first, second) {
			t.Fatalf("%d messages, then %d, %v", len(first), len(second), err)
		}
	})
}

func fuzzRead(r *Reader) ([]string, error) {
	rows, err := r.Messages(nil)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []string
	for {
		m, err := rows.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		out = append(out, m.Topic.Name+string(m.Data))
	}
}
