package dataset

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// A segment file, little-endian:
//
//	header  magic [8]byte, version uint32, Δt float64, rows uint64 (0: still growing when it was begun),
//	        length uint32 and bytes of the flight's name, CRC-32C of all that
//	blocks  n uint32, n rows, CRC-32C of both
//	row     t, p_W (3), q_WB (4: w x y z), v_W (3), thrust, ω_B (3) as float64, confidence as float32
const (
	magic      = "VNDSEG\r\n" // a transfer as text would change the line end
	version    = 1
	fixedSize  = 8 + 4 + 8 + 8 + 4 // of the header, before the name
	rowSize    = 15*8 + 4
	blockRows  = 256  // rows of a full block as written
	maxRows    = 4096 // rows of a block as read
	maxName    = 1024 // bytes
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

func appendHeader(b []byte, h header) []byte {
	begin := len(b)
	b = append(b, magic...)
	b = binary.LittleEndian.AppendUint32(b, version)
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(h.delta))
	b = binary.LittleEndian.AppendUint64(b, h.rows)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(h.flight)))
	b = append(b, h.flight...)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[begin:], castagnoli))
}

func appendRow(b []byte, r *WeightedRow) []byte {
	p, q, v, w := r.State.P, r.State.Q, r.State.V, r.Command.Rates
	for _, x := range [...]float64{r.T, p.X, p.Y, p.Z, q.W, q.X, q.Y, q.Z, v.X, v.Y, v.Z, r.Command.Thrust, w.X, w.Y,
		w.Z} {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	return binary.LittleEndian.AppendUint32(b, math.Float32bits(r.Confidence))
}

func decodeRow(b []byte) WeightedRow {
	var x [15]float64
	for i := range x {
		x[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return WeightedRow{
		Row: quad.Row{
			T: x[0],
			State: quad.State{
				P: so3.Vec3{X: x[1], Y: x[2], Z: x[3]},
				Q: so3.Quat{W: x[4], X: x[5], Y: x[6], Z: x[7]},
				V: so3.Vec3{X: x[8], Y: x[9], Z: x[10]},
			},
			Command: quad.Command{Thrust: x[11], Rates: so3.Vec3{X: x[12], Y: x[13], Z: x[14]}},
		},
		Confidence: math.Float32frombits(binary.LittleEndian.Uint32(b[15*8:])),
	}
}

// beginBlock appends the place of a block's count; rows follow, then endBlock.
func beginBlock(b []byte) []byte { return append(b, 0, 0, 0, 0) }

// endBlock completes block, which begins at its count.
func endBlock(block []byte) []byte {
	binary.LittleEndian.PutUint32(block, uint32((len(block)-countSize)/rowSize))
	return binary.LittleEndian.AppendUint32(block, crc32.Checksum(block, castagnoli))
}

// encode writes a whole segment file.
func encode(w io.Writer, s Segment, delta float64) error {
	b := appendHeader(nil, header{delta, uint64(len(s.Rows)), s.Flight})
	for begin := 0; ; begin += blockRows {
		if _, err := w.Write(b); err != nil {
			return err
		}
		if begin >= len(s.Rows) {
			return nil
		}
		b = beginBlock(b[:0])
		for k := begin; k < min(begin+blockRows, len(s.Rows)); k++ {
			b = appendRow(b, &s.Rows[k])
		}
		b = endBlock(b)
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
func decode(r io.Reader, delta float64) (s Segment, loss *Loss, err error) {
	c := &counter{r: r}
	h, damage, err := readHeader(c)
	if err != nil {
		return Segment{}, nil, err
	}
	if damage == "" && h.delta != delta {
		return Segment{}, nil, fmt.Errorf("recorded at Δt = %g s, expected %g s", h.delta, delta)
	}
	s.Flight = h.flight
	whole := int64(0)
	if damage == "" {
		whole = c.n
	}
	for damage == "" {
		var rows []WeightedRow
		if rows, damage, err = readBlock(c); err != nil {
			return Segment{}, nil, err
		}
		if damage == "" && rows == nil {
			break // end of the file
		}
		if damage == "" {
			damage = join(&s, rows, delta)
		}
		if damage == "" {
			whole = c.n
		}
	}
	if damage == "" && h.rows > uint64(len(s.Rows)) {
		damage = "the file ends early"
	}
	if damage == "" {
		return s, nil, nil
	}
	if _, err := io.Copy(io.Discard, c); err != nil {
		return Segment{}, nil, err
	}
	lost := int((c.n - whole + rowSize - 1) / rowSize)
	if known := h.rows; known > uint64(len(s.Rows)) && known < 1<<40 {
		lost = int(known) - len(s.Rows)
	}
	return s, &Loss{After: len(s.Rows), Rows: lost, Reason: damage}, nil
}

// join appends rows if they are fit to learn from and continue the segment.
func join(s *Segment, rows []WeightedRow, delta float64) (damage string) {
	for k := range rows {
		if err := rows[k].check(); err != nil {
			return err.Error()
		}
		last := len(s.Rows) - 1
		if k > 0 && !quad.Follows(rows[k-1].T, rows[k].T, delta) || k == 0 && last >= 0 &&
			!quad.Follows(s.Rows[last].T, rows[k].T, delta) {
			return "its time has a gap"
		}
	}
	s.Rows = append(s.Rows, rows...)
	return ""
}

func readHeader(r io.Reader) (h header, damage string, err error) {
	b := make([]byte, fixedSize, fixedSize+maxName+crcSize)
	if cut, err := readFull(r, b); err != nil || cut {
		return h, "cut off in the header", err
	}
	if string(b[:len(magic)]) != magic {
		return h, "not a segment file", nil
	}
	if v := binary.LittleEndian.Uint32(b[8:]); v != version {
		return h, "", fmt.Errorf("segment file of version %d, this program reads version %d", v, version)
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
func readBlock(r io.Reader) (rows []WeightedRow, damage string, err error) {
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
	b := make([]byte, int(n)*rowSize+crcSize)
	if cut, err := readFull(r, b); err != nil || cut {
		return nil, "cut off in a block", err
	}
	end := len(b) - crcSize
	if crc32.Update(crc32.Checksum(count[:], castagnoli), castagnoli, b[:end]) != binary.LittleEndian.Uint32(b[end:]) {
		return nil, "damaged block", nil
	}
	rows = make([]WeightedRow, n)
	for k := range rows {
		rows[k] = decodeRow(b[k*rowSize:])
	}
	return rows, "", nil
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
