package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Any page is overwritten. There is no error; every message that is read was written, in order, and missing
// ones are counted.
func TestDamagedPagesCostOnlyTheirRows(t *testing.T) {
	const n, page = 2000, 4096
	path := makeDB(t, n)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	written := map[string]bool{}
	for _, m := range wanted(n) {
		written[m] = true
	}
	for _, rubbish := range []byte{0, 0xff, 0x0d} {
		for p := 8; p < len(whole)/page; p += 11 {
			damagedText := append([]byte(nil), whole...)
			for i := range page {
				damagedText[p*page+i] = rubbish
			}
			name := filepath.Join(t.TempDir(), "damaged.db3")
			if err := os.WriteFile(name, damagedText, 0o644); err != nil {
				t.Fatal(err)
			}
			r, err := Open(name)
			if err != nil {
				t.Fatal(err)
			}
			counts, err := r.Count()
			if err != nil {
				t.Fatal(err)
			}
			got := readAll(t, r, nil)
			checkDamaged(t, got, written, fmt.Sprintf("page %d of %#x", p, rubbish))
			loss := r.Loss()
			if missing := n - len(got); missing > 0 &&
				(loss.Messages == 0 || loss.Chunks == 0 && loss.Messages != uint64(missing)) {
				t.Errorf("page %d of %#x: %d missing, %s %q", p, rubbish, missing, loss.String(), loss.Notes)
			}
			if len(got) < n-page/10 && len(got) < n*9/10 {
				t.Errorf("page %d of %#x: one page cost %d of %d messages", p, rubbish, n-len(got), n)
			}
			if counts.Messages < uint64(len(got)) {
				t.Errorf("%d counted, %d read", counts.Messages, len(got))
			}
			r.Close()
		}
	}
}

func checkDamaged(t *testing.T, got []string, written map[string]bool, where string) {
	t.Helper()
	last := -1
	for _, m := range got {
		var topic string
		var at int
		fmt.Sscanf(strings.Replace(m, "@", " ", 1), "%s %d", &topic, &at)
		if !written[m] && !strings.Contains(m, "\x00") && !strings.Contains(m, "\xff") {
			t.Fatalf("%s: %q was never written", where, m)
		}
		if at <= last {
			t.Fatalf("%s: %d after %d", where, at, last)
		}
		last = at
	}
}

// The count came from metadata.yaml, so that only reading finds the damage.
func TestDamageIsFoundWhileReading(t *testing.T) {
	path := makeDB(t, 2000)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// The last pages hold the last messages.
	at := len(text) - 30*4096
	for i := range 4096 {
		text[at+i] = 0xff
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	written := map[string]bool{}
	for _, m := range wanted(2000) {
		written[m] = true
	}
	got := readAll(t, r, nil)
	checkDamaged(t, got, written, "while reading")
	again := readAll(t, r, nil)
	if loss := r.Loss(); len(got) == 2000 || len(got) < 1900 || len(again) != len(got) || !loss.Any() {
		t.Errorf("%d messages, then %d; %s %q", len(got), len(again), loss.String(), loss.Notes)
	}
}

// An index is older than its table after a power loss. After counting, all rows are read.
func TestIndexWithoutSomeRowsHidesNothing(t *testing.T) {
	path := makeDB(t, 300)
	execSQL(t, path, "CREATE TABLE keep AS SELECT * FROM messages WHERE id > 250",
		"DELETE FROM messages WHERE id > 250",
		"PRAGMA writable_schema = ON", "UPDATE sqlite_master SET sql = 'CREATE TABLE hidden(a)', name = 'hidden', "+
			"tbl_name = 'hidden', type = 'table' WHERE name = 'timestamp_idx'")
	execSQL(t, path, "INSERT INTO messages SELECT * FROM keep")
	// The index is an ordinary table for SQLite now, and was not kept up.
	execSQL(t, path, "PRAGMA writable_schema = ON",
		"UPDATE sqlite_master SET sql = 'CREATE INDEX timestamp_idx ON messages (timestamp ASC)', name = "+
			"'timestamp_idx', tbl_name = 'messages', type = 'index' WHERE name = 'hidden'")
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c, err := r.Count()
	if err != nil || c.Messages != 300 {
		t.Fatalf("%d counted, %v", c.Messages, err)
	}
	if got := readAll(t, r, nil); len(got) != 300 {
		t.Errorf("%d messages", len(got))
	}
}

// logged writes 200 messages, each in a transaction of its own, and returns the database and its
// write-ahead log as a killed recorder leaves them.
func logged(t *testing.T) (db, log []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log.db3")
	w, err := Create(path, SchemaCurrent, "jazzy")
	if err != nil {
		t.Fatal(err)
	}
	id, err := w.AddTopic(Topic{Name: "/a", Type: "T", Format: "cdr"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		if err := errors.Join(w.Write(id, int64(i), []byte(fmt.Sprintf("message %04d", i))), w.Flush()); err != nil {
			t.Fatal(err)
		}
	}
	if db, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	if log, err = os.ReadFile(path + "-wal"); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return db, log
}

// A wrong checksum costs no later transaction; an incomplete end costs the last one.
func TestTransactionsAfterADamagedFrameAreRead(t *testing.T) {
	db, log := logged(t)
	const walHeader, frameHeader = 32, 24 // bytes
	page := int(binary.BigEndian.Uint32(log[8:]))
	frames := (len(log) - walHeader) / (frameHeader + page)
	if frames < 400 {
		t.Fatalf("only %d frames", frames)
	}
	for name, c := range map[string]struct {
		damaged int // frame, -1 for none
		cut     int // bytes off the end
		bad     uint64
		read    int
	}{
		"intact":                   {damaged: -1, read: 200},
		"a damaged frame":          {damaged: 300, bad: 1, read: 200},
		"the last frame":           {damaged: frames - 1, read: 199},
		"cut off":                  {damaged: -1, cut: 1, read: 199},
		"a damaged frame, cut off": {damaged: 300, cut: 5, bad: 1, read: 199},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "damaged.db3")
			wal := append([]byte(nil), log[:len(log)-c.cut]...)
			if c.damaged >= 0 {
				// A byte of the page outside of any row.
				wal[walHeader+c.damaged*(frameHeader+page)+frameHeader+page/2-1000] ^= 1
			}
			if err := errors.Join(os.WriteFile(path, db, 0o644), os.WriteFile(path+"-wal", wal, 0o644)); err != nil {
				t.Fatal(err)
			}
			r, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			got := readAll(t, r, nil)
			if loss := r.Loss(); len(got) != c.read || loss.Chunks != c.bad {
				t.Errorf("%d messages, %s %q", len(got), loss.String(), loss.Notes)
			}
			temp := r.temp
			if err := r.Close(); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(temp); temp != "" && err == nil {
				t.Errorf("%s is left", temp)
			}
		})
	}
}
