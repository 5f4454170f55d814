package dataset

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"vnd/pkg/core/quad"
)

// A segment file, little-endian:
//
//	header  magic [8]byte, version uint32 of its Kind, Δt float64, rows uint64 (0: still growing when it was begun),
//	        length uint32 and bytes of the flight's name, CRC-32C of all that
//	blocks  n uint32, n rows, CRC-32C of both
const (
	magic      = "VNDSEG\r\n"      // a transfer as text would change the line end
	fixedSize  = 8 + 4 + 8 + 8 + 4 // of the header, before the name
	blockRows  = 256               // rows of a full block as written
	maxRows    = 4096              // rows of a block as read
	maxName    = 1024              // bytes
	crcSize    = 4
	countSize  = 4
	fileSuffix = ".seg"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// header of a segment file.
type header struct {
	delta  float64
	rows   uint64 // 0 when not known at the time of writing
	flight string
}

func appendHeader(b []byte, version uint32, h header) []byte {
	begin := len(b)
	b = append(b, magic...)
	b = binary.LittleEndian.AppendUint32(b, version)
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(h.delta))
	b = binary.LittleEndian.AppendUint64(b, h.rows)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(h.flight)))
	b = append(b, h.flight...)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[begin:], castagnoli))
}

// beginBlock appends the place of a block's count; rows follow, then endBlock.
func beginBlock(b []byte) []byte { return append(b, 0, 0, 0, 0) }

// endBlock completes block, which begins at its count and has rows of a size.
func endBlock(block []byte, size int) []byte {
	binary.LittleEndian.PutUint32(block, uint32((len(block)-countSize)/size))
	return binary.LittleEndian.AppendUint32(block, crc32.Checksum(block, castagnoli))
}

// encode writes a whole segment file.
func (k *Kind) encode(w io.Writer, s *Encoded, delta float64) error {
	b := appendHeader(nil, k.Version, header{delta, uint64(k.rows(s)), s.Flight})
	for rest := s.Rows; ; {
		if _, err := w.Write(b); err != nil || len(rest) == 0 {
			return err
		}
		n := min(blockRows*k.Size, len(rest))
		b = endBlock(append(beginBlock(b[:0]), rest[:n]...), k.Size)
		rest = rest[n:]
	}
}

// Loss says what a damaged segment file no longer tells. Its rows before the damage are sound.
type Loss struct {
	File   string // base name
	After  int    // sound rows
	Rows   int    // rows lost; where a growing file was cut, those that the corrupt bytes held
	Reason string
}

// String is one line.
func (l Loss) String() string {
	return fmt.Sprintf("%s: %d rows lost after row %d: %s", l.File, l.Rows, l.After, l.Reason)
}

// decode reads a segment file up to its end or to the last whole block before damage, which loss then describes (nil
// for a whole file). An error means that the file is another program's, another version's or at another Δt, or that
// reading failed.
func (k *Kind) decode(r io.Reader, delta float64) (s Encoded, loss *Loss, err error) {
	c := &counter{r: r}
	h, damage, err := k.readHeader(c)
	if err != nil {
		return Encoded{}, nil, err
	}
	if damage == "" && h.delta != delta {
		return Encoded{}, nil, fmt.Errorf("recorded at Δt = %g s, expected %g s", h.delta, delta)
	}
	s.Flight = h.flight
	whole := int64(0)
	if damage == "" {
		whole = c.n
	}
	for damage == "" {
		var rows []byte
		if rows, damage, err = k.readBlock(c); err != nil {
			return Encoded{}, nil, err
		}
		if damage == "" && rows == nil {
			break // end of the file
		}
		if damage == "" {
			damage = k.join(&s, rows, delta)
		}
		if damage == "" {
			whole = c.n
		}
	}
	sound := k.rows(&s)
	if damage == "" && h.rows > uint64(sound) {
		damage = "the file ends early"
	}
	if damage == "" {
		return s, nil, nil
	}
	if _, err := io.Copy(io.Discard, c); err != nil {
		return Encoded{}, nil, err
	}
	lost := (int(c.n-whole) + k.Size - 1) / k.Size
	if known := h.rows; known > uint64(sound) && known < 1<<40 {
		lost = int(known) - sound
	}
	return s, &Loss{After: sound, Rows: lost, Reason: damage}, nil
}

// join appends rows if they are fit to learn from and continue the segment.
func (k *Kind) join(s *Encoded, rows []byte, delta float64) (damage string) {
	all := append(s.Rows, rows...)
	for at := len(s.Rows); at < len(all); at += k.Size {
		if err := k.Check(all[at:][:k.Size]); err != nil {
			return err.Error()
		}
		if at > 0 && !quad.Follows(rowTime(all[at-k.Size:]), rowTime(all[at:]), delta) {
			return "its time has a gap"
		}
	}
	s.Rows = all
	return ""
}

func (k *Kind) readHeader(r io.Reader) (h header, damage string, err error) {
	b := make([]byte, fixedSize, fixedSize+maxName+crcSize)
	if cut, err := readFull(r, b); err != nil || cut {
		return h, "cut off in the header", err
	}
	if string(b[:len(magic)]) != magic {
		return h, "not a segment file", nil
	}
	if v := binary.LittleEndian.Uint32(b[8:]); v != k.Version {
		return h, "", fmt.Errorf("segment file of version %d, this program reads version %d", v, k.Version)
	}
	size := binary.LittleEndian.Uint32(b[fixedSize-4:])
	if size == 0 || size > maxName {
		return h, "damaged header", nil
	}
	b = b[:fixedSize+int(size)+crcSize]
	if cut, err := readFull(r, b[fixedSize:]); err != nil || cut {
		return h, "cut off in the header", err
	}
	end := len(b) - crcSize
	if crc32.Checksum(b[:end], castagnoli) != binary.LittleEndian.Uint32(b[end:]) {
		return h, "damaged header", nil
	}
	h.delta = math.Float64frombits(binary.LittleEndian.Uint64(b[12:]))
	h.rows = binary.LittleEndian.Uint64(b[20:])
	h.flight = string(b[fixedSize:end])
	return h, "", nil
}

// readBlock returns no rows and no damage at the end of the file.
func (k *Kind) readBlock(r io.Reader) (rows []byte, damage string, err error) {
	var count [countSize]byte
	if _, err := io.ReadFull(r, count[:]); errors.Is(err, io.EOF) {
		return nil, "", nil
	} else if errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, "cut off in a block", nil
	} else if err != nil {
		return nil, "", err
	}
	n := binary.LittleEndian.Uint32(count[:])
	if n == 0 || n > maxRows {
		return nil, "damaged block", nil
	}
	b := make([]byte, int(n)*k.Size+crcSize)
	if cut, err := readFull(r, b); err != nil || cut {
		return nil, "cut off in a block", err
	}
	end := len(b) - crcSize
	if crc32.Update(crc32.Checksum(count[:], castagnoli), castagnoli, b[:end]) != binary.LittleEndian.Uint32(b[end:]) {
		return nil, "damaged block", nil
	}
	return b[:end], "", nil
}

// readFull fills b; cut says that the file ended before.
func readFull(r io.Reader, b []byte) (cut bool, err error) {
	_, err = io.ReadFull(r, b)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return true, nil
	}
	return false, err
}

// counter counts the bytes read.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}
