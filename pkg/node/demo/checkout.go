package demo

import (
	"errors"
	"os"
	"path/filepath"
)

// Flights is where the checkout keeps the flights of the demo, in the folders train and test.
var Flights = filepath.Join("params", "demo", "flights")

// Checkout looks for the folder with the demo's flights from the current directory upwards, then from the program's.
// The path is relative to the current directory where that is short.
func Checkout() (string, error) {
	starts := []string{"."}
	if exe, err := os.Executable(); err == nil {
		starts = append(starts, filepath.Dir(exe))
	}
	for _, start := range starts {
		abs, err := filepath.Abs(start)
		if err != nil {
			continue
		}
		for dir, last := start, ""; abs != last; dir, abs, last = filepath.Join(dir, ".."), filepath.Dir(abs), abs {
			if info, err := os.Stat(filepath.Join(dir, Flights)); err == nil && info.IsDir() {
				return dir, nil
			}
		}
	}
	return "", errors.New("no " + Flights +
		" in the current directory, above it, or above the program: run it in the checkout, or give --flights DIR")
}
