package wal

import (
	"bytes"
	"os"
	"testing"
)

// recorded is the log of two commits, in pages of 512 bytes, as SQLite 3.40 wrote it.
func recorded(t testing.TB) []byte {
	log, err := os.ReadFile("testdata/two_commits.db3-wal")
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// TestRecorded: SQLite's own sums are right, and stay as they are when mended; one byte makes one frame wrong.
func TestRecorded(t *testing.T) {
	log := recorded(t)
	frames := (len(log) - headSize) / (frameHeadSize + 512)
	bad, keep, err := Check(bytes.NewReader(log))
	if bad != 0 || keep != frames || frames < 2 || err != nil {
		t.Fatalf("%d of %d frames are wrong, %d in all, %v", bad, keep, frames, err)
	}
	var same bytes.Buffer
	if err := Mend(&same, bytes.NewReader(log), keep); err != nil || !bytes.Equal(same.Bytes(), log) {
		t.Errorf("mending changes a log without a fault, %v", err)
	}
	log[headSize+frameHeadSize+7] ^= 1
	if bad, keep, err := Check(bytes.NewReader(log)); bad != 1 || keep != frames || err != nil {
		t.Errorf("%d of %d frames are wrong, %v", bad, keep, err)
	}
}

// FuzzWAL: of any bytes, the frames up to the last completed transaction are a log without a wrong checksum once mended.
func FuzzWAL(f *testing.F) {
	log := recorded(f)
	f.Add(log)
	f.Add(log[:len(log)-100])
	big := bytes.Clone(log)
	big[3] ^= 1 // sums over words of the other order
	f.Add(big)
	torn := bytes.Clone(log)
	torn[headSize+frameHeadSize+7] ^= 1
	f.Add(torn)
	f.Fuzz(func(t *testing.T, log []byte) {
		bad, keep, err := Check(bytes.NewReader(log))
		if err != nil {
			t.Fatal(err)
		}
		var mended bytes.Buffer
		if err := Mend(&mended, bytes.NewReader(log), keep); err != nil {
			t.Fatal(err)
		}
		if left, kept, err := Check(bytes.NewReader(mended.Bytes())); left != 0 || kept != keep || err != nil || mended.Len() > len(log) {
			t.Fatalf("%d of %d frames were wrong; mended, %d of %d are, %v", bad, keep, left, kept, err)
		}
	})
}
