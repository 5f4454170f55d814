package armlearning

import (
	"encoding/binary"
	"errors"
	"math"

	"vnd/pkg/learning/dataset"
	"vnd/pkg/learning/gate"
	"vnd/pkg/robot/arm"
)

// Rows is how an arm's rows lie in segment files: time, angles, rates and torques as float64.
var Rows = &dataset.Kind{Version: 2, Size: rowSize, Check: checkRow, Windows: windows}

const rowSize = 8 * (1 + 3*arm.Joints)

// Encode makes rows bytes of a file.
func Encode(rows []arm.Row) []byte {
	b, _ := binary.Append(nil, binary.LittleEndian, rows) // of numbers alone
	return b
}

// Decode reads rows of a file.
func Decode(b []byte) []arm.Row {
	rows := make([]arm.Row, len(b)/rowSize)
	binary.Decode(b, binary.LittleEndian, rows) // whole ones
	return rows
}

// checkRow refuses a row with a number that is none.
func checkRow(b []byte) error {
	for ; len(b) > 0; b = b[8:] {
		if x := math.Float64frombits(binary.LittleEndian.Uint64(b)); x-x != 0 {
			return errors.New("a number of a row is not finite")
		}
	}
	return nil
}

// windows are torques, N·m, that an arm without a payload does not explain.
func windows(b []byte, dt float64) (all []float32, D int) {
	for _, mean := range arm.Unexplained(Decode(b), dt, unexplained) {
		for _, x := range mean {
			all = append(all, float32(x))
		}
	}
	return all, arm.Joints
}

// unexplained are the rows over which torques are averaged that tell what an arm carries.
const unexplained = 20

// PlaceRows are as many as tell a Place.
const PlaceRows = 51

// Place is where in the space of conditions an arm did rows: its payload, kg, friction, N·m, and damping, N·m·s/rad.
func Place(rows []arm.Row) (*gate.Place, error) {
	r, err := arm.Identify(rows, Dt)
	return &gate.Place{r.Payload, r.Friction, r.Damping}, err
}
