package atomicfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// tinyDisk is a file that takes capacity bytes and then is full, as write(2) reports it: a short count and ENOSPC.
type tinyDisk struct {
	bytes.Buffer
	capacity           int
	failSync, failDone bool
	closed             int
}

func (d *tinyDisk) Write(p []byte) (int, error) {
	if free := d.capacity - d.Len(); len(p) > free {
		d.Buffer.Write(p[:free])
		return free, &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
	}
	return d.Buffer.Write(p)
}

func (d *tinyDisk) Sync() error {
	if d.failSync {
		return syscall.EIO
	}
	return nil
}

func (d *tinyDisk) Close() error {
	d.closed++
	if d.failDone {
		return syscall.EDQUOT // NFS and quotas report a full disk as late as close
	}
	return nil
}

func writeBytes(b []byte) func(io.Writer) error {
	return func(w io.Writer) error { _, err := w.Write(b); return err }
}

func onlyFiles(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Fatalf("directory holds %q, expected %q", got, want)
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestWriteFileReplacesWhole(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.bin")
	for _, s := range []string{"first", "", strings.Repeat("longer than the buffer ", 1<<14)} {
		if err := WriteFile(path, writeBytes([]byte(s))); err != nil {
			t.Fatal(err)
		}
		if content(t, path) != s {
			t.Fatalf("content differs after writing %d bytes", len(s))
		}
	}
	onlyFiles(t, dir, "a.bin")
}

func TestWriteFileKeepsTheOldFileOnError(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.bin")
	if err := WriteFile(path, writeBytes([]byte("old"))); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 1, 1 << 16, 1<<16 + 1, 1 << 20} {
		err := WriteFile(path, func(w io.Writer) error {
			if _, err := w.Write(make([]byte, n)); err != nil {
				return err
			}
			return fmt.Errorf("layer 3: %w", syscall.ENOSPC)
		})
		want := "write " + path + ": layer 3: no space left on device"
		if !errors.Is(err, syscall.ENOSPC) || err.Error() != want {
			t.Fatalf("error %q, expected %q", err, want)
		}
		if content(t, path) != "old" {
			t.Fatalf("the old file is gone after an error at byte %d", n)
		}
	}
	onlyFiles(t, dir, "a.bin")
}

func TestWriteFilePanicLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	func() {
		defer func() { recover() }()
		WriteFile(filepath.Join(dir, "a.bin"), func(w io.Writer) error { panic("bug in write") })
	}()
	onlyFiles(t, dir)
}

func TestFillFullDisk(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789"), 20000) // three buffers' worth
	write := func(w io.Writer) error {
		for i := 0; i < len(data); i += 1000 {
			if _, err := w.Write(data[i : i+1000]); err != nil {
				return err
			}
		}
		return nil
	}
	for _, capacity := range []int{0, 1, 65535, 65536, 65537, len(data) - 1} {
		t.Run(fmt.Sprintf("capacity %d", capacity), func(t *testing.T) {
			d := &tinyDisk{capacity: capacity}
			if err := fill(d, write); !errors.Is(err, syscall.ENOSPC) || d.closed != 1 {
				t.Errorf("error %v, closed %d times", err, d.closed)
			}
		})
	}
	if err := fill(&tinyDisk{capacity: len(data), failSync: true}, write); !errors.Is(err, syscall.EIO) {
		t.Errorf("failed sync gave %v", err)
	}
	if err := fill(&tinyDisk{capacity: len(data), failDone: true}, write); !errors.Is(err, syscall.EDQUOT) {
		t.Errorf("failed close gave %v", err)
	}
	d := &tinyDisk{capacity: len(data)}
	if err := fill(d, write); err != nil || !bytes.Equal(d.Bytes(), data) || d.closed != 1 {
		t.Errorf("a disk just large enough gave %v", err)
	}
}

func TestFillDevFull(t *testing.T) {
	f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("this system has no /dev/full")
	}
	if err := fill(f, writeBytes([]byte("x"))); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("error %v, expected ENOSPC", err)
	}
}

func TestWriteFileRefusesWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct{ path, want string }{
		"a directory":    {dir, "it is a directory, expected a file"},
		"a device":       {os.DevNull, "it is not a regular file"},
		"no such folder": {dir + "/no/a", "no such file or directory"},
	} {
		t.Run(name, func(t *testing.T) {
			want := "write " + c.path + ": " + c.want
			if err := WriteFile(c.path, writeBytes(nil)); err == nil || err.Error() != want {
				t.Errorf("error %v, expected %q", err, want)
			}
		})
	}
	onlyFiles(t, dir)
}

func TestWriteFileFollowsLink(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := os.WriteFile(target, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("target", link); err != nil {
		t.Skip("this system has no symbolic links")
	}
	if err := WriteFile(link, writeBytes([]byte("new"))); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Fatalf("the link is no longer a link: %v", err)
	}
	if content(t, target) != "new" {
		t.Fatal("the link's target was not written")
	}
}

func TestRemoveUnfinished(t *testing.T) {
	dir := t.TempDir()
	if f, release, err := createTemp(filepath.Join(dir, "a.bin")); err != nil { // as a killed WriteFile leaves it
		t.Fatal(err)
	} else {
		f.Close()
		release()
	}
	if err := os.WriteFile(filepath.Join(dir, ".hidden"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := RemoveUnfinished(dir); err != nil {
		t.Fatal(err)
	}
	onlyFiles(t, dir, ".hidden")
}
