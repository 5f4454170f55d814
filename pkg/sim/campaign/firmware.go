package campaign

import (
	"errors"
	"slices"
)

// ErrNoFirmware is of a row that needs a firmware where none is built.
var ErrNoFirmware = errors.New("no firmware of Betaflight here: make betaflight builds it")

// firmwareRow flies faults of other rows on firmware: number n in cell c has the fault of row n + c of theirs.
func firmwareRow() Row {
	var rows []Row
	for _, r := range slices.Concat(trackingRows(), processRows()) {
		if n := r.number(); n >= 2 && n <= 5 || n == 32 || n == 37 {
			rows = append(rows, r)
		}
	}
	of := func(r *Run) *Row { return &rows[(r.Number+slices.Index(Cells(), r.Cell))%len(rows)] }
	return Row{ID: "44", Name: "rows 2–5, 32, 37 with real firmware", Pass: "as there", Firmware: true,
		Plan: func(r *Run) {
			of(r).Plan(r)
			r.Label = "row " + of(r).ID + ": " + r.Label
		},
		Judge: func(r *Run) []Check { return of(r).Judge(r) }}
}
