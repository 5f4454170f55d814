package sqlite

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Any file, with any write-ahead log, is an error or a bag that reads the same twice.
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
