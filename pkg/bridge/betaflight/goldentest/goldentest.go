// Package goldentest reads tables of what Betaflight's own code made of values, for tests.
package goldentest

import (
	"encoding/csv"
	"encoding/hex"
	"os"
	"strconv"
	"testing"
)

// Rows are the cells of a file of comma-separated values; lines with # are comments.
func Rows(t testing.TB, file string) [][]string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comment = '#'
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// Number is that of a cell.
func Number(t testing.TB, cell string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(cell, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// Bytes are those of a cell in hexadecimal digits.
func Bytes(t testing.TB, cell string) []byte {
	t.Helper()
	b, err := hex.DecodeString(cell)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
