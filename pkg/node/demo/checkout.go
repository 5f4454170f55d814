package demo

import (
	"errors"
	"os"
	"path/filepath"
)

// Flights is where the checkout keeps the flights of the demo, in the folders train and test.
var Flights = filepath.Join("params", "demo", "flights")

// Checkout returns the folder in which params lies, and the one for what a demo writes. It looks for the demo's flights
// from the current directory upwards, then from the program's, then where an installed package keeps them: share/vnd
// beside lib/vnd. A checkout's demo writes below it, an installed one into the current directory. Paths are relative to
// that where they are short.
func Checkout() (top, out string, err error) {
	program, err := os.Executable()
	if err != nil {
		return "", "", err
	}
	return checkout(filepath.Dir(program))
}

// checkout is Checkout of a program in a folder.
func checkout(programs string) (top, out string, err error) {
	for _, start := range []string{".", programs} {
		abs, err := filepath.Abs(start)
		if err != nil {
			continue
		}
		for dir, last := start, ""; abs != last; dir, abs, last = filepath.Join(dir, ".."), filepath.Dir(abs), abs {
			if hasFlights(dir) {
				return dir, filepath.Join(dir, "build", "demo"), nil
			}
		}
	}
	if dir := filepath.Join(programs, "..", "..", "share", "vnd"); hasFlights(dir) {
		return dir, "vnd_demo", nil
	}
	return "", "", errors.New("no " + Flights +
		" in the current directory, above it, above the program, or in share/vnd beside its lib/vnd: " +
		"run it in the checkout, or give --flights DIR")
}

func hasFlights(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, Flights))
	return err == nil && info.IsDir()
}
