package record

import (
	"errors"
	"fmt"
	"io"
)

// maxAhead is the most that a reader can look ahead, bytes.
const maxAhead = 1 << 18

// Input is a file read front to back, with its offset for errors. Its buffer grows with the file, to 2¹⁸ bytes.
type Input struct {
	name string
	r    io.Reader
	err  error // of the last read
	buf  []byte
	next []byte // read and not yet passed, within buf
	at   int64  // offset of next
}

// NewInput reads r, which errors call name.
func NewInput(name string, r io.Reader) *Input { return &Input{name: name, r: r} }

// Offset is of the next byte, from the start of the file.
func (in *Input) Offset() int64 { return in.at }

// Ahead returns at least the next n bytes, n ≤ 2¹⁸, without passing them: all that is buffered. They hold until the
// next call. At the end of the file it returns fewer, and io.EOF.
func (in *Input) Ahead(n int) ([]byte, error) {
	if n > maxAhead {
		return in.next, fmt.Errorf("%s: byte %d: %d bytes ahead, at most %d", in.name, in.at, n, maxAhead)
	}
	for len(in.next) < n {
		if in.err != nil {
			if !errors.Is(in.err, io.EOF) {
				return in.next, fmt.Errorf("%s: byte %d: %w", in.name, in.at, in.err)
			}
			return in.next, io.EOF
		}
		in.fill(n)
	}
	return in.next, nil
}

// fill reads once, into a buffer of n bytes at least.
func (in *Input) fill(n int) {
	if n > len(in.buf) || len(in.next) == len(in.buf) || len(in.buf) < maxAhead && in.at >= int64(len(in.buf)) {
		bigger := make([]byte, max(n, min(2*len(in.buf), maxAhead), 1<<12))
		in.next = bigger[:copy(bigger, in.next)]
		in.buf = bigger
	} else {
		in.next = in.buf[:copy(in.buf, in.next)]
	}
	have := len(in.next)
	k, err := io.ReadAtLeast(in.r, in.buf[have:], 1)
	in.next, in.err = in.buf[:have+k], err
}

// Skip passes n bytes; at the end of the file it passes what is left.
func (in *Input) Skip(n int) {
	for n > 0 {
		k := min(n, len(in.next))
		in.next, in.at, n = in.next[k:], in.at+int64(k), n-k
		if n > 0 {
			if b, _ := in.Ahead(1); len(b) == 0 {
				return // an error shows at the next Ahead
			}
		}
	}
}

// Errorf is an error about the byte at offset, on one line with the file's name.
func (in *Input) Errorf(offset int64, format string, args ...any) error {
	return fmt.Errorf("%s: byte %d: %s", in.name, offset, fmt.Sprintf(format, args...))
}
