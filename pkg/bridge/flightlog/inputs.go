package flightlog

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"vnd/pkg/core/quad"
	"vnd/pkg/ros2/bag"
	"vnd/pkg/ros2/bag/metadata"
)

// ReadAll reads flight CSVs and bags, and all those in folders, in the order given and by name within a folder. A bag
// may hold several flights.
func ReadAll(ctx context.Context, inputs []string, o Options, warn func(Warning)) ([]quad.Flight, error) {
	files, err := Expand(inputs)
	if err != nil {
		return nil, err
	}
	var recorded []quad.Flight
	for _, file := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f, err := readOne(file, o, warn)
		if err != nil {
			return nil, err
		}
		recorded = append(recorded, f)
	}
	distinguish(recorded, files)
	var flights []quad.Flight
	for i, f := range recorded {
		if holdsBag(files[i]) {
			flights = append(flights, Split(f, o.FlightGap)...)
		} else {
			flights = append(flights, f)
		}
	}
	return flights, nil
}

// readOne reads a flight CSV or a bag.
func readOne(path string, o Options, warn func(Warning)) (quad.Flight, error) {
	if _, err := os.Stat(path); err != nil {
		return quad.Flight{}, err
	}
	read := ReadCSV
	if holdsBag(path) {
		read = ReadBag
	}
	f, warnings, err := read(path, o)
	if err != nil {
		return quad.Flight{}, err
	}
	for _, w := range warnings {
		warn(w)
	}
	return f, nil
}

// distinguish names flights of the same name, out of several folders, by as much of their paths as tells them apart:
// splits and digests go by names.
func distinguish(flights []quad.Flight, files []string) {
	same := map[string][]int{}
	for i, f := range flights {
		same[f.Name] = append(same[f.Name], i)
	}
	for _, group := range same {
		names := map[string]bool{}
		for elements := 1; len(group) > 1 && len(names) < len(group); elements++ {
			clear(names)
			for _, i := range group {
				flights[i].Name = ending(files[i], elements)
				names[flights[i].Name] = true
			}
		}
	}
}

// ending returns the last elements of a file's whole path, with slashes.
func ending(file string, elements int) string {
	if abs, err := filepath.Abs(file); err == nil {
		file = abs
	}
	parts := strings.Split(filepath.ToSlash(file), "/")
	return strings.Join(parts[max(0, len(parts)-elements):], "/")
}

// Expand replaces folders, unless they are bags, by the CSV files and bags in them. What comes twice would count twice,
// and is refused.
func Expand(inputs []string) ([]string, error) {
	var files []string
	for _, input := range inputs {
		input = bag.Root(input)
		info, err := os.Stat(input)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() || isBag(input, true) {
			files = append(files, input)
			continue
		}
		entries, err := os.ReadDir(input)
		if err != nil {
			return nil, err
		}
		before := len(files)
		for _, e := range entries {
			path := filepath.Join(input, e.Name())
			if !e.IsDir() && strings.EqualFold(filepath.Ext(path), ".csv") || e.IsDir() && isBag(path, true) {
				files = append(files, path)
			}
		}
		if len(files) == before {
			return nil, fmt.Errorf("%s: no flight CSV and no bag in this folder", input)
		}
	}
	seen := map[string]bool{}
	for _, f := range files {
		abs, err := filepath.Abs(f)
		if err != nil {
			return nil, err
		}
		if seen[abs] {
			return nil, fmt.Errorf("%s: given twice", f)
		}
		seen[abs] = true
	}
	return files, nil
}

// holdsBag tells bags from CSVs: folders and storage files by name, other files by content.
func holdsBag(path string) bool {
	info, err := os.Stat(path)
	return err == nil && (isBag(path, info.IsDir()) || bag.IsFile(path))
}

// isBag tells rosbag2 folders and their storage files by names alone.
func isBag(path string, dir bool) bool {
	if !dir {
		end := filepath.Ext(strings.TrimSuffix(path, ".zstd"))
		return end == ".mcap" || end == ".db3"
	}
	entries, err := os.ReadDir(path)
	return err == nil && slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		return !e.IsDir() && (isBag(e.Name(), false) || e.Name() == metadata.FileName)
	})
}
