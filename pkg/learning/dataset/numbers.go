package dataset

import (
	"encoding/binary"
	"errors"
	"math"
)

// Numbers is the Kind of rows that are float64 alone, their time first. windows describes rows dt seconds apart.
func Numbers[Row any](version uint32, windows func(rows []Row, dt float64) (all []float32, D int)) *Kind {
	return &Kind{Version: version, Size: binary.Size(*new(Row)), Check: checkNumbers,
		Windows: func(b []byte, dt float64) ([]float32, int) { return windows(DecodeRows[Row](b), dt) }}
}

// EncodeRows makes rows of numbers bytes of a file.
func EncodeRows[Row any](rows []Row) []byte {
	b, _ := binary.Append(nil, binary.LittleEndian, rows) // of numbers alone
	return b
}

// DecodeRows reads rows of a file.
func DecodeRows[Row any](b []byte) []Row {
	rows := make([]Row, len(b)/binary.Size(*new(Row)))
	binary.Decode(b, binary.LittleEndian, rows) // whole ones
	return rows
}

// checkNumbers refuses a row with a number that is none.
func checkNumbers(b []byte) error {
	for ; len(b) > 0; b = b[8:] {
		if x := math.Float64frombits(binary.LittleEndian.Uint64(b)); x*0 != 0 {
			return errors.New("a number of a row is not finite")
		}
	}
	return nil
}
