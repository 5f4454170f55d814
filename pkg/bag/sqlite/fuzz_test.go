package sqlite

import (
	"database/sql/driver"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// FuzzRow: a row's columns in any type are a message or a counted loss.
func FuzzRow(f *testing.F) {
	f.Add(byte(0), byte(0), byte(2), int64(1), int64(1), []byte("data"))
	f.Add(byte(1), byte(2), byte(0), int64(1), int64(7), []byte{})
	f.Add(byte(3), byte(4), byte(3), int64(9), int64(-1), []byte(nil))
	topic := &Topic{ID: 1, Name: "/a"}
	f.Fuzz(func(t *testing.T, kindOfTopic, kindOfTime, kindOfData byte, id, time int64, data []byte) {
		value := func(kind byte, n int64) driver.Value {
			switch kind % 5 {
			case 0:
				return n
			case 1:
				return string(data)
			case 2:
				return data
			case 3:
				return float64(n)
			}
			return nil
		}
		r := &Reader{byID: map[int64]*Topic{1: topic}, bad: map[int64]bool{}}
		v := []driver.Value{int64(5), value(kindOfTopic, id), value(kindOfTime, time), value(kindOfData, id)}
		var m Message
		ok := r.decode(v, &m)
		loss := r.Loss()
		right := kindOfTopic%5 == 0 && id == 1 && kindOfTime%5 == 0 && (kindOfData%5 == 1 || kindOfData%5 == 2)
		if ok != right || ok == loss.Any() {
			t.Fatalf("%v: taken %v, %s", v, ok, loss.String())
		}
		if ok && (m.Topic != topic || m.Time != time || string(m.Data) != string(data)) {
			t.Fatalf("%v became %+v", v, m)
		}
	})
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
