package dataset

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"vnd/pkg/core/atomicfile"
)

// Options of a Buffer.
type Options struct {
	MaxRows int              // bound on the rows kept, at least 1000
	Delta   float64          // Δt of all segments, s
	Clock   func() time.Time // of the appender's flushes
	Kind    *Kind            // of the rows; nil: those of a quadrotor
}

// LeastMaxRows is the least that Options.MaxRows may be.
const LeastMaxRows = 1000

// File describes one segment of the buffer.
type File struct {
	Name    string // base name in the buffer's directory
	Flight  string
	Rows    int      // on disk
	Digest  [32]byte // Digest of this segment alone
	Growing bool     // an Appender is at work on it
}

// Buffer is a directory of segment files, one per segment, whose numbers tell their order. The files are the only
// truth. A Buffer is the directory's only writer, which a lock ensures; others read with ReadDir and ReadFile.
//
// At most MaxRows are kept; see Balance for what goes. Methods may be called concurrently.
type Buffer struct {
	dir     string
	options Options
	lock    *os.File

	mu       sync.Mutex
	files    []entry // in their order
	next     int     // number of the next file
	losses   []Loss
	appender *Appender // the one at work, or nil
	closed   bool

	// open opens a file for appending; tests put a full disk here.
	open func(path string) (output, error)
}

// entry is a file of the buffer that holds at least one row.
type entry struct {
	File
	number int
	piece  *Piece // nil before it is asked for
}

// output is a file being appended to.
type output interface {
	io.WriteCloser
	Sync() error
	Truncate(size int64) error
}

// Open opens the buffer in dir, which it creates if need be. Damaged files count up to their last whole block; Losses
// tells what is missing. Open does not repair them. A file of an unknown version or another Δt is an error.
func Open(dir string, o Options) (*Buffer, error) {
	if o.MaxRows < LeastMaxRows {
		return nil, fmt.Errorf("buffer %s: max rows is %d, expected at least %d", dir, o.MaxRows, LeastMaxRows)
	}
	if !(o.Delta > 0) || math.IsInf(o.Delta, 1) {
		return nil, fmt.Errorf("buffer %s: time step Δt is %g s, expected more than 0", dir, o.Delta)
	}
	if o.Clock == nil {
		return nil, fmt.Errorf("buffer %s: no clock", dir)
	}
	if o.Kind == nil {
		o.Kind = quadrotorRows
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("buffer: %w", err)
	}
	lock, err := lockDir(dir)
	if err != nil {
		return nil, err
	}
	b := &Buffer{dir: dir, options: o, lock: lock, next: 1, open: openAppend}
	if err := b.load(); err != nil {
		lock.Close()
		return nil, err
	}
	return b, nil
}

func openAppend(path string) (output, error) { return os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0) }

// lockDir makes this process the only writer until the file is closed, by whatever end.
func lockDir(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, fmt.Errorf("buffer: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("buffer %s: another process is writing to it", dir)
		}
		return nil, fmt.Errorf("buffer %s: lock: %w", dir, err)
	}
	return f, nil
}

func (b *Buffer) load() error {
	if err := atomicfile.RemoveUnfinished(b.dir); err != nil {
		return fmt.Errorf("buffer: %w", err)
	}
	names, err := list(b.dir)
	if err != nil {
		return fmt.Errorf("buffer: %w", err)
	}
	for _, name := range names {
		s, loss, err := b.read(name)
		if err != nil {
			return fmt.Errorf("buffer: %w", err)
		}
		if loss != nil {
			b.losses = append(b.losses, *loss)
		}
		number, _ := fileNumber(name)
		b.next = number + 1
		if len(s.Rows) > 0 {
			b.files = append(b.files, b.entry(number, &s))
		}
	}
	return b.evict()
}

// entry is that of a file.
func (b *Buffer) entry(number int, s *Encoded) entry {
	e := entry{File: File{Name: fileName(number), Flight: s.Flight, Rows: b.options.Kind.rows(s), Digest: s.Digest()},
		number: number}
	b.describe(&e, s)
	return e
}

// read reads a file.
func (b *Buffer) read(name string) (Encoded, *Loss, error) {
	return b.options.Kind.readFile(filepath.Join(b.dir, name), b.options.Delta)
}

// write writes a file as a whole.
func (b *Buffer) write(name string, s *Encoded) error {
	return atomicfile.WriteFile(filepath.Join(b.dir, name), func(w io.Writer) error {
		return b.options.Kind.encode(w, s, b.options.Delta)
	})
}

// Put adds a segment, and lets older ones go where there are too many rows. It is on disk when Put returns.
func (b *Buffer) Put(s Encoded) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	kind, whole := b.options.Kind, Encoded{Flight: s.Flight}
	err := checkFlight(s.Flight)
	if err == nil && (len(s.Rows) == 0 || len(s.Rows)%kind.Size != 0) {
		err = fmt.Errorf("a segment of %d bytes, expected rows of %d", len(s.Rows), kind.Size)
	}
	if err == nil {
		if damage := kind.join(&whole, s.Rows, b.options.Delta); damage != "" {
			err = fmt.Errorf("flight %q: %s", s.Flight, damage)
		}
	}
	if err != nil {
		return fmt.Errorf("buffer %s: %w", b.dir, err)
	}
	if b.closed {
		return b.errClosed()
	}
	if err := b.write(fileName(b.next), &s); err != nil {
		return fmt.Errorf("buffer: %w", err)
	}
	b.files = append(b.files, b.entry(b.next, &s))
	b.next++
	return b.evict()
}

// Segments reads the segments, in their order; of a growing one, what is flushed.
func (b *Buffer) Segments() ([]Encoded, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	segments := make([]Encoded, 0, len(b.files))
	for _, e := range b.files {
		s, _, err := b.read(e.Name)
		if err != nil {
			return nil, fmt.Errorf("buffer: %w", err)
		}
		if has := b.options.Kind.rows(&s); has < e.Rows {
			return nil, fmt.Errorf("buffer: %s: %d rows, expected %d: it was changed from outside",
				filepath.Join(b.dir, e.Name), has, e.Rows)
		}
		segments = append(segments, s)
	}
	return segments, nil
}

// list returns the names of the segment files in dir by their numbers.
func list(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if _, ok := fileNumber(e.Name()); ok && e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		i, _ := fileNumber(a)
		j, _ := fileNumber(b)
		return i - j
	})
	return names, nil
}

func fileName(number int) string { return fmt.Sprintf("%08d%s", number, fileSuffix) }

func fileNumber(name string) (int, bool) {
	digits, ok := strings.CutSuffix(name, fileSuffix)
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && n > 0 && n < math.MaxInt32 && fileName(n) == name
}

// ReadFile reads one segment file. loss is nil for a whole file; that of one that is being written at this moment may
// look cut off. It is an error if the file is of another version or another Δt than delta.
func ReadFile(path string, delta float64) (Segment, *Loss, error) {
	s, loss, err := quadrotorRows.readFile(path, delta)
	return s.segment(), loss, err
}

func (k *Kind) readFile(path string, delta float64) (s Encoded, loss *Loss, err error) {
	f, err := os.Open(path)
	if err != nil {
		return Encoded{}, nil, err
	}
	defer f.Close()
	s, loss, err = k.decode(bufio.NewReaderSize(f, 1<<16), delta)
	if err != nil {
		return Encoded{}, nil, fmt.Errorf("%s: %w", path, err)
	}
	if loss != nil {
		loss.File = filepath.Base(path)
	}
	return s, loss, nil
}

// ReadDir reads the segments of a buffer in their order, also while another process writes to it.
func ReadDir(dir string, delta float64) ([]Segment, []Loss, error) {
	names, err := list(dir)
	if err != nil {
		return nil, nil, err
	}
	var segments []Segment
	var losses []Loss
	for _, name := range names {
		s, loss, err := ReadFile(filepath.Join(dir, name), delta)
		if errors.Is(err, fs.ErrNotExist) {
			continue // evicted since the directory was listed
		}
		if err != nil {
			return nil, nil, err
		}
		if loss != nil {
			losses = append(losses, *loss)
		}
		if len(s.Rows) > 0 {
			segments = append(segments, s)
		}
	}
	return segments, losses, nil
}

// Files describes the segments in their order.
func (b *Buffer) Files() []File {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make([]File, len(b.files))
	for i, e := range b.files {
		out[i] = e.File
	}
	return out
}

// Rows on disk.
func (b *Buffer) Rows() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rows()
}

func (b *Buffer) rows() int {
	n := 0
	for _, e := range b.files {
		n += e.Rows
	}
	return n
}

// Losses found by Open, and by flushes that failed.
func (b *Buffer) Losses() []Loss {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.losses)
}

// find returns the place of the file with this number, or where it would be.
func (b *Buffer) find(number int) (int, bool) {
	return slices.BinarySearchFunc(b.files, number, func(e entry, n int) int { return e.number - n })
}

func (b *Buffer) errClosed() error { return fmt.Errorf("buffer %s: closed", b.dir) }

// Close closes the appender, if one is at work, and lets another process write.
func (b *Buffer) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil
	}
	b.closed = true
	var err error
	if b.appender != nil {
		err = b.appender.close()
	}
	if lockErr := b.lock.Close(); err == nil {
		err = lockErr
	}
	return err
}
