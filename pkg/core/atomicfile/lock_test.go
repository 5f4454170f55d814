package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// The next write removes what a killed process left of the same file. Another file's temporary file stays, and
// one that is being written.
func TestWriteFileRemovesStaleFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.bin")
	other := ".b.bin" + tempMark + "00000001"
	for _, name := range []string{".a.bin" + tempMark + "00000001", ".a.bin" + tempMark + "00000002", other} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("half"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	err := WriteFile(path, func(w io.Writer) error {
		// It must not remove the temporary file of the outer one.
		if err := WriteFile(path, writeBytes([]byte("inner"))); err != nil {
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
func TestWriteFileByManyAtOnce(t *testing.T) {
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

func TestLockIsHeldByOne(t *testing.T) {
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
	missing := filepath.Join(dir, "no", "lock")
	if _, err := Lock(missing); err == nil || err.Error() != "lock "+missing+": no such file or directory" {
		t.Errorf("a lock in no folder: %v", err)
	}
}
