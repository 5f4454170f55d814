package param

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	nameForm = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	tagKey   = regexp.MustCompile(`(\w+):"(?:[^"\\]|\\.)*"`)
	tagKeys  = []string{"param", "default", "min", "max", "step", "unit", "enum", "read_only", "file", "was", "doc",
		"json"}
)

var goTypes = map[string]reflect.Type{
	Bool:         reflect.TypeFor[bool](),
	Integer:      reflect.TypeFor[int](),
	Double:       reflect.TypeFor[float64](),
	String:       reflect.TypeFor[string](),
	ByteArray:    reflect.TypeFor[[]byte](),
	BoolArray:    reflect.TypeFor[[]bool](),
	IntegerArray: reflect.TypeFor[[]int](),
	DoubleArray:  reflect.TypeFor[[]float64](),
	StringArray:  reflect.TypeFor[[]string](),
}

// typeOf returns the name of a Go type, "" when it is not one of a parameter.
func typeOf(t reflect.Type) string {
	for name, u := range goTypes {
		if t == u {
			return name
		}
	}
	return ""
}

// fieldsOf reads the tags of the struct that ptr points to.
func fieldsOf(ptr any) ([]field, error) {
	v := reflect.ValueOf(ptr)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return nil, fmt.Errorf("param: expected a pointer to a struct, got %T", ptr)
	}
	c := collector{seen: map[string]bool{}, defaults: map[string]string{}, moved: map[string][]string{}}
	if err := c.collect([]string{""}, v.Elem()); err != nil {
		return nil, fmt.Errorf("param: %w", err)
	}
	return c.fields, nil
}

// collector collects the parameters of nested structs.
type collector struct {
	fields   []field
	seen     map[string]bool     // names of parameters and of groups
	defaults map[string]string   // by name: what an enclosing group's tag gives
	moved    map[string][]string // by name: former names in an enclosing group's tag
	readOnly bool                // an enclosing group is
	file     string              // tag of an enclosing group
	groups   []string            // doc tags of the enclosing groups, outermost first
}

// collect takes the fields of a struct. The first prefix is that of their names, the others of their former ones.
func (c *collector) collect(prefixes []string, v reflect.Value) error {
	for i := range v.NumField() {
		if v.Type().Field(i).Tag.Get("param") == "-" {
			continue
		}
		if err := c.field(prefixes, v.Type().Field(i), v.Field(i)); err != nil {
			return fmt.Errorf("%s.%w", v.Type(), err)
		}
	}
	return nil
}

func (c *collector) field(prefixes []string, sf reflect.StructField, v reflect.Value) error {
	tag, tagged := sf.Tag.Lookup("param")
	isStruct := sf.Type.Kind() == reflect.Struct
	if isStruct {
		defer func(readOnly bool, file string) { c.readOnly, c.file = readOnly, file }(c.readOnly, c.file)
		c.readOnly = c.readOnly || sf.Tag.Get("read_only") == "true"
		c.file = cmp.Or(sf.Tag.Get("file"), c.file)
	}
	if isStruct && sf.Anonymous && !tagged {
		return c.group(prefixes, sf.Tag, v)
	}
	if !sf.IsExported() {
		return fmt.Errorf("%s: unexported fields cannot be parameters", sf.Name)
	}
	if !nameForm.MatchString(tag) {
		return fmt.Errorf("%s: the param tag is %q, expected a lower_snake_case name", sf.Name, tag)
	}
	names, err := namesOf(prefixes, tag, sf.Tag)
	if err != nil {
		return fmt.Errorf("%s: %w", sf.Name, err)
	}
	for _, name := range names {
		if c.seen[name] {
			return fmt.Errorf("%s: a second %q", sf.Name, name)
		}
		c.seen[name] = true
	}
	if isStruct {
		for i := range names {
			names[i] += "."
		}
		c.groups = append(c.groups, sf.Tag.Get("doc"))
		defer func() { c.groups = c.groups[:len(c.groups)-1] }()
		return c.group(names, sf.Tag, v)
	}
	if text, ok := c.defaults[names[0]]; ok {
		sf.Tag = reflect.StructTag(fmt.Sprintf("default:%q ", text)) + sf.Tag
		delete(c.defaults, names[0])
	}
	for _, former := range c.moved[names[0]] {
		if c.seen[former] {
			return fmt.Errorf("%s: a second %q", sf.Name, former)
		}
		c.seen[former] = true
		names = append(names, former)
	}
	delete(c.moved, names[0])
	d, err := descriptor(names[0], sf)
	if err != nil {
		return fmt.Errorf("%s: %w", sf.Name, err)
	}
	d.ReadOnly, d.File = d.ReadOnly || c.readOnly, c.file
	if len(names) > 1 {
		d.Former = names[1:]
	}
	c.fields = append(c.fields, field{d, v, slices.Clone(c.groups)})
	return nil
}

// group takes the fields of a nested struct, with the defaults and former names of its tags. Defaults of an outer group
// win.
func (c *collector) group(prefixes []string, tag reflect.StructTag, v reflect.Value) error {
	var named []string
	for key, take := range map[string]func(left, right string){
		"defaults": func(name, text string) {
			named = append(named, prefixes[0]+name)
			c.defaults[prefixes[0]+name] = cmp.Or(c.defaults[prefixes[0]+name], text)
		},
		"moved": func(former, name string) {
			named = append(named, prefixes[0]+name)
			for _, p := range prefixes {
				c.moved[prefixes[0]+name] = append(c.moved[prefixes[0]+name], p+former)
			}
		},
	} {
		for pair := range strings.FieldsSeq(tag.Get(key)) {
			left, right, ok := strings.Cut(pair, "=")
			if !ok {
				return fmt.Errorf("the %s tag has %q, expected pairs with = between", key, pair)
			}
			take(left, right)
		}
	}
	if err := c.collect(prefixes, v); err != nil {
		return err
	}
	for _, name := range named {
		if _, left := c.defaults[name]; left || c.moved[name] != nil {
			return fmt.Errorf("a tag names %q, which is no parameter", name)
		}
	}
	return nil
}

// namesOf returns the full name of a field and then its former ones.
func namesOf(prefixes []string, name string, tag reflect.StructTag) (names []string, err error) {
	own := []string{name}
	if was, ok := tag.Lookup("was"); ok {
		if !nameForm.MatchString(was) {
			return nil, fmt.Errorf("the was tag is %q, expected a lower_snake_case name", was)
		}
		own = append(own, was)
	}
	for _, p := range prefixes {
		for _, n := range own {
			names = append(names, p+n)
		}
	}
	return names, nil
}

func descriptor(name string, sf reflect.StructField) (Descriptor, error) {
	d := Descriptor{Name: name, Type: typeOf(sf.Type), Unit: sf.Tag.Get("unit"), Doc: sf.Tag.Get("doc")}
	if d.Type == "" {
		return d, fmt.Errorf("a %s cannot be a parameter", sf.Type)
	}
	for _, m := range tagKey.FindAllStringSubmatch(string(sf.Tag), -1) {
		if !slices.Contains(tagKeys, m[1]) {
			return d, fmt.Errorf("unknown tag %q", m[1])
		}
	}
	if d.Doc == "" || strings.ContainsAny(d.Doc, "\r\n") {
		return d, fmt.Errorf("doc %q, expected one line", d.Doc)
	}
	if err := d.limits(sf.Tag); err != nil {
		return d, err
	}
	if enum, ok := sf.Tag.Lookup("enum"); ok {
		if d.element() != String {
			return d, fmt.Errorf("%s has no enum", article(d.Type))
		}
		d.Enum = strings.Split(enum, ",")
	}
	if text, ok := sf.Tag.Lookup("read_only"); ok {
		if text != "true" {
			return d, fmt.Errorf("read_only %q, expected true or no such tag", text)
		}
		d.ReadOnly = true
	}
	text, ok := sf.Tag.Lookup("default")
	if !ok {
		return d, fmt.Errorf("no default tag")
	}
	var err error
	if d.Default, err = d.parseDefault(text); err != nil {
		return d, fmt.Errorf("default %q: %w", text, err)
	}
	if err := d.inRange(d.Default); err != nil {
		return d, fmt.Errorf("default: %w", err)
	}
	return d, nil
}

// limits reads min, max and step.
func (d *Descriptor) limits(tag reflect.StructTag) error {
	var err error
	if d.Min, err = d.bound(tag, "min"); err != nil {
		return err
	}
	if d.Max, err = d.bound(tag, "max"); err != nil {
		return err
	}
	if d.Min != nil && d.Max != nil && *d.Min > *d.Max {
		return fmt.Errorf("min %v is above max %v", *d.Min, *d.Max)
	}
	step, err := d.bound(tag, "step")
	switch {
	case step == nil:
		return err
	case *step <= 0 || d.Min == nil:
		return fmt.Errorf("step %v, expected it above 0 and a min to count it from", *step)
	}
	d.Step = *step
	return nil
}

func (d Descriptor) bound(tag reflect.StructTag, key string) (*float64, error) {
	text, ok := tag.Lookup(key)
	if !ok {
		return nil, nil
	}
	whole := d.element() == Integer
	if !whole && d.element() != Double {
		return nil, fmt.Errorf("%s has no %s", article(d.Type), key)
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return nil, fmt.Errorf("%s %q is not a number", key, text)
	}
	if whole && x != math.Trunc(x) {
		return nil, fmt.Errorf("%s %q of an %s is not an integer", key, text, d.Type)
	}
	return &x, nil
}

// parseDefault reads a default tag; unlike in a file, a double may be written as 1.
func (d Descriptor) parseDefault(text string) (any, error) {
	if !d.isList() {
		return parseElement(d.element(), text)
	}
	var items []string
	if text != "" {
		items = strings.Split(text, ",")
	}
	return d.list(len(items), func(i int) (any, error) {
		if d.element() == String {
			return items[i], nil
		}
		return parseElement(d.element(), strings.TrimSpace(items[i]))
	})
}

func parseElement(typ, text string) (any, error) {
	switch typ {
	case Bool:
		return strconv.ParseBool(text)
	case Integer:
		return strconv.Atoi(text)
	case Double:
		return strconv.ParseFloat(text, 64)
	case String:
		return text, nil
	}
	x, err := strconv.ParseUint(text, 10, 8)
	return byte(x), err
}
