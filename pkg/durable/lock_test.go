package durable

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// What a killed process left of the same file goes with the next write; another file's, and what is being written, stay.
func TestWriteFileRemovesLeftovers(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.bin")
	other := ".b.bin" + tempMark + "00000001"
	for _, name := range []string{".a.bin" + tempMark + "00000001", ".a.bin" + tempMark + "00000002", other} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("half"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	err := WriteFile(path, func(w io.Writer) error {
		if err := WriteFile(path, writeBytes([]byte("inner"))); err != nil { // must not take the outer one's for a leftover
			return err
		}
		return writeBytes([]byte("outer"))(w)
	})
	if err != nil {
		t.Fatal(err)
	}
	if content(t, path) != "outer" {
		t.Fatalf("content %q", content(t, path))
	}
	onlyFiles(t, dir, other, "a.bin")
}

// Writers of one path at once never take each other's files, and leave one whole file.
func TestWriteFileAtOnce(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.bin")
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			for range 20 {
				if err := WriteFile(path, writeBytes(fmt.Appendf(nil, "writer %d", i))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	if len(content(t, path)) != len("writer 0") {
		t.Errorf("content %q", content(t, path))
	}
	onlyFiles(t, dir, "a.bin")
}

func TestLock(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "lock")
	if err := os.WriteFile(path, nil, 0o666); err != nil { // as a killed process leaves it
		t.Fatal(err)
	}
	unlock, err := Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(path); !errors.Is(err, ErrLocked) || err.Error() != "lock "+path+": another process holds it" {
		t.Errorf("a second lock: %v", err)
	}
	unlock()
	onlyFiles(t, dir)
	if unlock, err = Lock(path); err != nil {
		t.Fatal(err)
	}
	unlock()
	if _, err := Lock(filepath.Join(dir, "no", "lock")); err == nil || err.Error() != "lock "+filepath.Join(dir, "no", "lock")+": no such file or directory" {
		t.Errorf("a lock in no folder: %v", err)
	}
}
