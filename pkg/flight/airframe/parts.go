package airframe

import (
	"fmt"
	"reflect"
	"slices"

	"vnd/pkg/core/param"
)

// inGroup is where nodes have the limits, which an airframe's file has at its top.
const inGroup = "limits."

// Named is the path of the airframe's file that a node's parameters name, "" where they name none.
func Named(said []param.Assignment) (path string) {
	for _, s := range said {
		if s.Name == Node {
			path, _ = s.Value.(string)
		}
	}
	return path
}

// LoadBeside is Load for a node. said is what its other files and arguments set. A value of the vehicle in another
// file is refused where it differs from the airframe's file. Without an airframe's file it is read for one version,
// with a warning. Single arguments are for one run, and win.
func LoadBeside(path string, said []param.Assignment) (a Airframe, warning string, err error) {
	if a, err = Load(path); err != nil {
		return a, "", fmt.Errorf("parameter airframe: %w", err)
	}
	own := param.Values(&a)
	names := map[string]string{} // of nodes, to those of the airframe's file
	for _, d := range param.Describe(&a) {
		for _, name := range append([]string{d.Name}, d.Former...) {
			names[name], names[inGroup+name] = d.Name, d.Name
		}
	}
	said = slices.DeleteFunc(slices.Clone(said), func(s param.Assignment) bool {
		name, known := names[s.Name]
		return !known || s.IsArgument() || reflect.DeepEqual(s.Value, own[name])
	})
	switch {
	case len(said) == 0:
		return a, "", nil
	case path == "":
		return a, fmt.Sprintf("%s: parameter %q is of the vehicle: write it into the airframe's file, which parameter "+
			"airframe names; the next version does not read it here", said[0].Where, said[0].Name), nil
	}
	s := said[0]
	return a, "", fmt.Errorf("%s: parameter %q is %v, and %s says %v: a vehicle is written once, delete it here",
		s.Where, s.Name, s.Value, path, own[names[s.Name]])
}
