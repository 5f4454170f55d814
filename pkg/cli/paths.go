package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// kinds say what a flag's or an argument's path leads to, by its placeholder or name.
var kinds = map[string]string{
	"F.yaml": "a parameter file", "W.yaml": "a world's parameter file", "file": "a sweep's file",
	"BUNDLE": "a bundle", "R.json": "a reference", "F.png": "a picture", "F.csv": "a flight CSV", "P.csv": "a CSV",
	"M.json": "a model that vnd rotors fit wrote", "COLUMNS.yaml": "a mapping of columns",
	"key": "a key that vnd key new made",
	"LOG": "a log of an autopilot", "STATE": "a log, a table or a flight CSV", "log": "a log of an autopilot",
	"BAG": "a bag", "bag": "a bag", "DIR": "a folder", "DIR|FILE": "a folder or a file",
	"input": "flight CSVs, bags or folders of them", "INPUT": "flight CSVs, bags or folders of them",
}

// named says which flag or argument a file's error is of, where the system says no more than the path.
func named(err error, parsed *kong.Context) error {
	var at *fs.PathError
	if !errors.As(err, &at) || err.Error() != at.Error() {
		return err
	}
	for _, p := range parsed.Path {
		values := make([]*kong.Value, 0, 10)
		if p.Command != nil {
			for _, f := range p.Command.Flags {
				values = append(values, f.Value)
			}
			values = append(values, p.Command.Positional...)
		}
		for _, v := range values {
			if slices.Contains(pathsOf(v), at.Path) {
				return fmt.Errorf("%s: %s %s: %w%s", label(v), at.Op, at.Path, at.Err, expected(v))
			}
		}
	}
	return err
}

// pathsOf are the values of a flag or an argument, as they were typed.
func pathsOf(v *kong.Value) []string {
	switch x := v.Target.Interface().(type) {
	case string:
		return []string{x}
	case []string:
		return x
	}
	return nil
}

func placeholder(v *kong.Value) string {
	if v.Flag != nil && v.Flag.PlaceHolder != "" {
		return v.Flag.PlaceHolder
	}
	return v.Name
}

func label(v *kong.Value) string {
	if v.Flag != nil {
		return "--" + v.Name
	}
	return strings.ToUpper(v.Name)
}

func expected(v *kong.Value) string {
	if kind := kinds[placeholder(v)]; kind != "" {
		return ", expected " + kind
	}
	return ""
}
