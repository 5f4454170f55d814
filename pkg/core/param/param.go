// Package param turns a tagged struct into declared parameters. Default, unit, range and
// doc stand at the field. The ROS parameter file, its checks, the command line and the
// table of the docs are made from them.
//
//	type Config struct {
//		LatentSize int           `param:"latent_size" default:"12" min:"1" max:"64" doc:"size of the latent z"`
//		Delta      float64       `param:"dt" default:"0.02" min:"0.001" max:"0.1" unit:"s" doc:"time step"`
//		Cell       string        `param:"cell" default:"gru" enum:"gru,mlp" doc:"recurrent cell"`
//		Encoder    EncoderConfig `param:"encoder" doc:"history encoder"` // parameters encoder.…
//	}
//
// A field is a bool, int, float64, string, a slice of these, a []byte, or a struct of
// such fields. Defaults of slices are separated by commas. A named struct puts "name."
// before its parameters; an embedded one adds them to its parent. Every leaf needs the
// tags param, default and doc; one with param:"-" is no parameter. The limits min and max are inclusive and hold for
// each element, as does enum. A step counts from min. read_only:"true" fixes a value after the start.
// A was:"old" on a leaf or a group is its former name, read for one version with a warning. On a group
// or an embedded struct, defaults:"a.b=1 c=2" replaces defaults of parameters in it, moved:"old=a.b" names former
// places in it, and read_only:"true" holds for all in it. A file:"airframe" on a group says that the file which
// parameter airframe names holds it: YAML leaves it out.
package param

import (
	"fmt"
	"os"
	"reflect"
)

// Warn is called with a line for each former name that a file or an argument uses.
// It is set before anything is read.
var Warn = func(line string) { fmt.Fprintln(os.Stderr, "warning: "+line) }

// Renamed is the line that names a parameter's new name.
func Renamed(former, name string) string {
	return fmt.Sprintf("parameter %q is now %q: the old name will not be read by the next version", former, name)
}

// Names of the parameter types, as `ros2 param describe` prints them.
const (
	Bool         = "bool"
	Integer      = "integer"
	Double       = "double"
	String       = "string"
	ByteArray    = "byte array"
	BoolArray    = "bool array"
	IntegerArray = "integer array"
	DoubleArray  = "double array"
	StringArray  = "string array"
)

// Descriptor is one declared parameter.
type Descriptor struct {
	Name     string   // full, dotted: "encoder.hidden"
	Type     string   // Bool … StringArray
	Default  any      // of the field's Go type
	Unit     string   // "" when it has none
	Min, Max *float64 // inclusive; nil is unbounded
	Step     float64  // between allowed values, from Min; 0 allows all
	Enum     []string // allowed strings; nil is any
	ReadOnly bool     // fixed once the node runs
	File     string   // parameter that names the file where it is written instead; "" is the node's own file
	Former   []string // full names of the version before, still read
	Doc      string
}

// Check returns the first bad tag of the struct that ptr points to. A test of each
// configuration calls it.
func Check(ptr any) error {
	_, err := fieldsOf(ptr)
	return err
}

// Default sets every parameter of *ptr to its default. It panics where Check returns an
// error: a bad tag is a mistake in the source.
func Default(ptr any) {
	for _, f := range mustFields(ptr) {
		f.set(f.Default)
	}
}

// Describe returns the declared parameters of *ptr in the order of its fields.
// Like Default it panics on a bad tag.
func Describe(ptr any) []Descriptor {
	fields := mustFields(ptr)
	ds := make([]Descriptor, len(fields))
	for i, f := range fields {
		ds[i] = f.Descriptor
	}
	return ds
}

// Values returns the present value of every parameter of *ptr by its name. Like Default it panics on a bad tag.
func Values(ptr any) map[string]any {
	values := map[string]any{}
	for _, f := range mustFields(ptr) {
		values[f.Name] = Clone(f.place.Interface())
	}
	return values
}

// Set gives one parameter a value, as `-p name:=value` does on a command line:
// value is YAML under the same rules as in a file. On an error *ptr is unchanged.
func Set(ptr any, name, value string) error {
	f, err := fieldNamed(ptr, name)
	if err != nil {
		return err
	}
	node, err := parseYAML([]byte(value))
	if err != nil {
		return fmt.Errorf("parameter %q: %s: %w", name, show(value), err)
	}
	v, err := f.decode(node)
	if err != nil {
		return fmt.Errorf("parameter %q: %w", name, err)
	}
	f.set(v)
	return nil
}

// Assign gives one parameter a value of its Go type, checked as in a file. On an error
// *ptr is unchanged.
func Assign(ptr any, name string, value any) error {
	f, err := fieldNamed(ptr, name)
	if err != nil {
		return err
	}
	if err := f.Check(value); err != nil {
		return fmt.Errorf("parameter %q: %w", name, err)
	}
	f.set(value)
	return nil
}

// fieldNamed finds a parameter of *ptr.
func fieldNamed(ptr any, name string) (field, error) {
	fields, err := fieldsOf(ptr)
	if err != nil {
		return field{}, err
	}
	return indexOf(fields).find(name)
}

// Check returns an error unless the parameter may have the value: its type, range, step
// and enumeration.
func (d Descriptor) Check(value any) error {
	switch typ := typeOf(reflect.TypeOf(value)); {
	case typ == "":
		return fmt.Errorf("got a Go %T, expected %s", value, article(d.Type))
	case typ != d.Type:
		return fmt.Errorf("got %s, expected %s", article(typ), article(d.Type))
	}
	return d.inRange(value)
}

// field is a Descriptor and the struct field of its value.
type field struct {
	Descriptor
	place  reflect.Value
	groups []string // docs of the groups that it is in, outermost first
}

// set stores a value of the field's own type, copying slices.
func (f field) set(v any) { f.place.Set(reflect.ValueOf(Clone(v))) }

func mustFields(ptr any) []field {
	fields, err := fieldsOf(ptr)
	if err != nil {
		panic(err)
	}
	return fields
}
