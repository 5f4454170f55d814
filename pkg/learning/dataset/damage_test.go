package dataset

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// encoded returns the bytes of a segment file, written whole or grown in blocks of the given sizes.
func encoded(t fataler, s Segment, blocks ...int) []byte {
	var b bytes.Buffer
	if blocks == nil {
		must(t, encode(&b, s, delta))
		return b.Bytes()
	}
	b.Write(appendHeader(nil, quadrotorRows.Version, header{delta: delta, flight: s.Flight}))
	k := 0
	for _, n := range blocks {
		block := beginBlock(nil)
		for range n {
			block = appendRow(block, &s.Rows[k])
			k++
		}
		b.Write(endBlock(block, rowSize))
	}
	return b.Bytes()
}

// prefix fails unless got is the beginning of want.
func prefix(t fataler, got, want Segment) {
	t.Helper()
	if len(got.Rows) > len(want.Rows) || len(got.Rows) > 0 && got.Flight != want.Flight {
		t.Fatalf("flight %q of %d rows, written %q of %d", got.Flight, len(got.Rows), want.Flight, len(want.Rows))
	}
	for k := range got.Rows {
		if got.Rows[k] != want.Rows[k] {
			t.Fatalf("row %d differs from what was written", k)
		}
	}
}

// A whole file cut at any byte gives the rows of its whole blocks and says how many are missing.
func TestCutAnywhere(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 3*blockRows).Draw(rt, "rows")
		want := stretch("a", 0, n)
		b := encoded(rt, want)
		cut := rapid.IntRange(0, len(b)-1).Draw(rt, "cut")
		got, loss, err := decode(bytes.NewReader(b[:cut]), delta)
		must(rt, err)
		prefix(rt, got, want)
		head := fixedSize + 1 + crcSize
		whole := max(0, cut-head) / (countSize + blockRows*rowSize + crcSize) * blockRows
		if len(got.Rows) != whole {
			rt.Fatalf("%d rows from %d bytes, expected %d", len(got.Rows), cut, whole)
		}
		if loss == nil || loss.After != whole || cut >= head && loss.Rows != n-whole {
			rt.Fatalf("cut at %d of %d bytes: loss %+v, expected %d rows", cut, len(b), loss, n-whole)
		}
	})
}

// The same of a file that grew: between two blocks nothing is missing that one could know of.
func TestCutWhileGrowing(t *testing.T) {
	want := stretch("a", 0, 20)
	blocks := []int{7, 1, 9, 3}
	b := encoded(t, want, blocks...)
	ends := map[int]int{fixedSize + 1 + crcSize: 0}
	at, rows := fixedSize+1+crcSize, 0
	for _, n := range blocks {
		at += countSize + n*rowSize + crcSize
		rows += n
		ends[at] = rows
	}
	whole := 0
	for cut := range len(b) + 1 {
		got, loss, err := decode(bytes.NewReader(b[:cut]), delta)
		must(t, err)
		prefix(t, got, want)
		n, between := ends[cut]
		if between {
			whole = n
		}
		if len(got.Rows) != whole || (loss == nil) != between {
			t.Fatalf("cut at %d: %d rows, expected %d; loss %v", cut, len(got.Rows), whole, loss)
		}
		if loss != nil && (loss.After != whole || loss.Rows < 0 || loss.Rows > 10) {
			t.Fatalf("cut at %d: loss %+v", cut, loss)
		}
	}
}

// Any flipped bit is noticed: what is read is the beginning of what was written, and the loss says so.
func TestAnyFlippedBit(t *testing.T) {
	want := stretch("a", 0, 12)
	b := encoded(t, want, 5, 4, 3)
	for i := range b {
		for bit := range 8 {
			b[i] ^= 1 << bit
			got, loss, err := decode(bytes.NewReader(b), delta)
			b[i] ^= 1 << bit
			if i >= 8 && i < 12 { // the version
				if err == nil || !strings.Contains(err.Error(), "this program reads version 1") {
					t.Fatalf("version with bit %d flipped: %v", bit, err)
				}
				continue
			}
			must(t, err)
			prefix(t, got, want)
			if loss == nil || len(got.Rows) == 12 {
				t.Fatalf("byte %d, bit %d: %d rows, loss %v", i, bit, len(got.Rows), loss)
			}
		}
	}
}

// A damaged file costs its own rows; the buffer goes on, counts the loss again at each opening and never reuses a name.
func TestDamagedBuffer(t *testing.T) {
	dir := t.TempDir()
	b := mustOpen(t, dir, 10000)
	for i := range 3 {
		must(t, b.put(stretch("a", float64(100*i), 600)))
	}
	must(t, b.Close())
	cut := filepath.Join(dir, "00000002.seg")
	must(t, os.Truncate(cut, 60000))
	must(t, os.WriteFile(filepath.Join(dir, "00000003.seg"), []byte("junk"), 0o666))
	for range 2 {
		b = mustOpen(t, dir, 10000)
		half := stretch("a", 100, 600)
		half.Rows = half.Rows[:256]
		holds(t, b, []Segment{stretch("a", 0, 600), half})
		want := "00000002.seg: 344 rows lost after row 256: cut off in a block; " +
			"00000003.seg: 1 rows lost after row 0: cut off in the header"
		var got []string
		for _, l := range b.Losses() {
			got = append(got, l.String())
		}
		if strings.Join(got, "; ") != want {
			t.Fatalf("losses %q, expected %q", got, want)
		}
		must(t, b.Close())
	}
	b = mustOpen(t, dir, 10000)
	defer b.Close()
	must(t, b.put(stretch("a", 300, 10)))
	if f := b.Files(); f[2].Name != "00000004.seg" {
		t.Fatalf("new segment in %s", f[2].Name)
	}
}

// Rows that no writer of ours would have written are damage too, even under a good checksum.
func TestUnfitRowsAreDamage(t *testing.T) {
	s := stretch("a", 0, 9)
	s.Rows[4].Confidence = 2
	got, loss, err := decode(bytes.NewReader(encoded(t, s, 3, 3, 3)), delta)
	if err != nil || len(got.Rows) != 3 || loss == nil || loss.Reason != "confidence 2, expected 0 to 1" {
		t.Fatalf("%d rows, loss %v, error %v", len(got.Rows), loss, err)
	}
	s = stretch("a", 0, 9)
	s.Rows[6].T += 1
	got, loss, err = decode(bytes.NewReader(encoded(t, s, 3, 3, 3)), delta)
	if err != nil || len(got.Rows) != 6 || loss == nil || loss.Reason != "its time has a gap" {
		t.Fatalf("%d rows, loss %v, error %v", len(got.Rows), loss, err)
	}
}

// An error of the disk is not damage.
func TestReadError(t *testing.T) {
	bad := errors.New("bad sector")
	b := encoded(t, stretch("a", 0, 20))
	for n := range len(b) {
		r := bytes.NewReader(b[:n])
		if _, _, err := decode(joinReaders{r, iotest.ErrReader(bad)}, delta); !errors.Is(err, bad) {
			t.Fatalf("after %d bytes: %v", n, err)
		}
	}
}

type joinReaders struct {
	first, then interface{ Read([]byte) (int, error) }
}

func (j joinReaders) Read(b []byte) (int, error) {
	if n, _ := j.first.Read(b); n > 0 {
		return n, nil
	}
	return j.then.Read(b)
}

func FuzzDecode(f *testing.F) {
	whole := encoded(f, stretch("a", 0, 12))
	f.Add(whole)
	f.Add(whole[:len(whole)-7])
	f.Add(encoded(f, stretch("long name", 5, 5), 2, 1, 2))
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, loss, err := decode(bytes.NewReader(b), delta)
		if err != nil {
			if strings.ContainsRune(err.Error(), '\n') {
				t.Fatalf("error of more than a line: %q", err)
			}
			return
		}
		if loss != nil && (loss.After != len(s.Rows) || loss.Rows < 0) {
			t.Fatalf("%d rows, loss %+v", len(s.Rows), loss)
		}
		if len(s.Rows) == 0 {
			return
		}
		must(t, s.check(delta))
		again, loss, err := decode(bytes.NewReader(encoded(t, s)), delta)
		if err != nil || loss != nil || again.digest() != s.digest() {
			t.Fatalf("written again: loss %v, error %v", loss, err)
		}
	})
}
