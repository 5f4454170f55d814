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

// SQLite's own checksums are correct, and unchanged by Repair. One wrong byte makes one frame wrong.
func TestRepairKeepsAnIntactLog(t *testing.T) {
	log := recorded(t)
	frames := (len(log) - headerSize) / (frameHeaderSize + 512)
	bad, keep, err := Check(bytes.NewReader(log))
	if bad != 0 || keep != frames || frames < 2 || err != nil {
		t.Fatalf("%d of %d frames are wrong, %d in all, %v", bad, keep, frames, err)
	}
	var same bytes.Buffer
	if err := Repair(&same, bytes.NewReader(log), keep); err != nil || !bytes.Equal(same.Bytes(), log) {
		t.Errorf("Repair changes an intact log, %v", err)
	}
	log[headerSize+frameHeaderSize+7] ^= 1
	if bad, keep, err := Check(bytes.NewReader(log)); bad != 1 || keep != frames || err != nil {
		t.Errorf("%d of %d frames are wrong, %v", bad, keep, err)
	}
}

// Repair makes a log without a wrong checksum of any bytes: the frames up to the last completed transaction.
func FuzzWAL(f *testing.F) {
	log := recorded(f)
	f.Add(log)
	f.Add(log[:len(log)-100])
	big := bytes.Clone(log)
	big[3] ^= 1 // sums over words of the other order
	f.Add(big)
	damaged := bytes.Clone(log)
	damaged[headerSize+frameHeaderSize+7] ^= 1
	f.Add(damaged)
	f.Fuzz(func(t *testing.T, log []byte) {
		bad, keep, err := Check(bytes.NewReader(log))
		if err != nil {
			t.Fatal(err)
		}
		var repaired bytes.Buffer
		if err := Repair(&repaired, bytes.NewReader(log), keep); err != nil {
			t.Fatal(err)
		}
		if left, kept, err := Check(bytes.NewReader(repaired.Bytes())); left != 0 || kept != keep || err != nil ||
			repaired.Len() > len(log) {
			t.Fatalf("%d of %d frames were wrong; after Repair %d of %d are, %v", bad, keep, left, kept, err)
		}
	})
}
