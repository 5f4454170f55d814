package operator

import (
	"encoding/base64"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"

	"vnd/msgs"
	"vnd/pkg/ros2/cdr"
	"vnd/pkg/ros2/msggen"
)

// member is a field of a message, by its name in ROS and its place in Go.
type member struct {
	name  string
	index int
}

// known remembers the members of types.
var known sync.Map // of reflect.Type to []member

// members are the fields of a message's struct, in their order.
func members(t reflect.Type) []member {
	if m, ok := known.Load(t); ok {
		return m.([]member)
	}
	var all []member
	m, isMessage := reflect.New(t).Interface().(interface{ TypeName() string })
	if !isMessage {
		return nil
	}
	d, _ := msgs.Lookup(m.TypeName())
	own, _, _ := strings.Cut(d.Definition(), strings.Repeat("=", 80))
	for line := range strings.Lines(own) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) < 2 || strings.Contains(words[1], "=") || len(words) > 2 && strings.HasPrefix(words[2], "=") {
			continue // a comment, or a constant
		}
		if f, ok := t.FieldByName(msggen.GoField(words[1])); ok {
			all = append(all, member{words[1], f.Index[0]})
		}
	}
	known.Store(t, all)
	return all
}

// Text is a message as YAML, which is read back by Fill. Lists and strings longer than most are cut; most 0 cuts none.
func Text(m cdr.Message, most int) string {
	b, err := yaml.Marshal(encode(reflect.ValueOf(m).Elem(), most))
	if err != nil {
		return err.Error() + "\n"
	}
	return string(b)
}

// Value is a message as maps, lists and scalars that JSON has: NaN and infinity are strings.
func Value(m cdr.Message) any { return plain(reflect.ValueOf(m).Elem()) }

func scalar(tag, value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value}
}

// encode is a value as YAML has it.
func encode(v reflect.Value, most int) *yaml.Node {
	switch v.Kind() {
	case reflect.Struct:
		n := &yaml.Node{Kind: yaml.MappingNode}
		for _, m := range members(v.Type()) {
			n.Content = append(n.Content, scalar("!!str", m.name), encode(v.Field(m.index), most))
		}
		return n
	case reflect.Slice, reflect.Array:
		n := &yaml.Node{Kind: yaml.SequenceNode}
		if k := v.Type().Elem().Kind(); k != reflect.Struct {
			n.Style = yaml.FlowStyle
		}
		for i := range v.Len() {
			if most > 0 && i == most {
				n.Content = append(n.Content, scalar("!!str", "..."))
				break
			}
			n.Content = append(n.Content, encode(v.Index(i), most))
		}
		return n
	case reflect.String:
		s := v.String()
		if most > 0 && len(s) > 16*most {
			s = strings.ToValidUTF8(s[:16*most], "") + "..."
		}
		return scalar("!!str", s)
	case reflect.Bool:
		return scalar("!!bool", strconv.FormatBool(v.Bool()))
	case reflect.Float32, reflect.Float64:
		return scalar("!!float", number(v))
	}
	return scalar("!!int", fmt.Sprint(v))
}

// number is a float as YAML has it.
func number(v reflect.Value) string {
	switch f := v.Float(); {
	case math.IsNaN(f):
		return ".nan"
	case math.IsInf(f, 0):
		return strings.Replace(strconv.FormatFloat(f, 'g', -1, 64)[:1]+".inf", "+", "", 1)
	}
	s := strconv.FormatFloat(v.Float(), 'g', -1, v.Type().Bits())
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}

func plain(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Struct:
		all := map[string]any{}
		for _, m := range members(v.Type()) {
			all[m.name] = plain(v.Field(m.index))
		}
		return all
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 && v.Kind() == reflect.Slice {
			return base64.StdEncoding.EncodeToString(v.Bytes())
		}
		all := make([]any, v.Len())
		for i := range all {
			all[i] = plain(v.Index(i))
		}
		return all
	case reflect.Float32, reflect.Float64:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			return strings.TrimPrefix(fmt.Sprint(f), "+")
		}
	}
	return v.Interface()
}

// Fill sets a message from YAML or JSON, such as "{data: true}". Fields that it leaves out stay as they are. The error
// names the field at fault and what was expected.
func Fill(m cdr.Message, text string) error {
	var n yaml.Node
	if err := yaml.Unmarshal([]byte(text), &n); err != nil {
		return fmt.Errorf("values: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if len(n.Content) == 0 {
		return nil
	}
	return fill(reflect.ValueOf(m).Elem(), n.Content[0], "")
}

// kinds of YAML in words.
var kinds = map[yaml.Kind]string{yaml.MappingNode: "fields", yaml.SequenceNode: "a list", yaml.ScalarNode: "one value",
	yaml.AliasNode: "an alias"}

func wrong(path string, v reflect.Value, n *yaml.Node) error {
	is := kinds[n.Kind]
	if n.Kind == yaml.ScalarNode {
		is = fmt.Sprintf("%.40q", n.Value)
	}
	want := v.Kind().String()
	switch v.Kind() {
	case reflect.Struct:
		want = fieldsOf(v)
	case reflect.Slice:
		want = "a list of " + v.Type().Elem().Kind().String()
	case reflect.Array:
		want = fmt.Sprintf("a list of %d %s", v.Len(), v.Type().Elem().Kind())
	}
	if path == "" {
		return fmt.Errorf("the values are %s, expected %s", is, want)
	}
	return fmt.Errorf("field %s is %s, expected %s", path, is, want)
}

func fieldsOf(v reflect.Value) string {
	var names []string
	for _, m := range members(v.Type()) {
		names = append(names, m.name)
	}
	return "fields {" + strings.Join(names, ", ") + "}"
}

// fill sets a value of a message at a path.
func fill(v reflect.Value, n *yaml.Node, path string) error {
	switch v.Kind() {
	case reflect.Struct:
		if n.Kind != yaml.MappingNode {
			return wrong(path, v, n)
		}
		return fillStruct(v, n, path)
	case reflect.Slice, reflect.Array:
		if n.Kind != yaml.SequenceNode || v.Kind() == reflect.Array && v.Len() != len(n.Content) {
			return wrong(path, v, n)
		}
		if v.Kind() == reflect.Slice {
			v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
		}
		for i, x := range n.Content {
			if err := fill(v.Index(i), x, fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
		return nil
	case reflect.String:
		if n.Kind != yaml.ScalarNode {
			return wrong(path, v, n)
		}
		v.SetString(n.Value)
		return nil
	}
	if n.Kind != yaml.ScalarNode || !fits(v.Kind(), n.ShortTag()) || n.Decode(v.Addr().Interface()) != nil {
		return wrong(path, v, n)
	}
	return nil
}

// fits reports whether YAML's type is that of a Go number or bool: no float is cut to an integer.
func fits(k reflect.Kind, tag string) bool {
	switch k {
	case reflect.Bool:
		return tag == "!!bool"
	case reflect.Float32, reflect.Float64:
		return tag == "!!float" || tag == "!!int"
	}
	return tag == "!!int"
}

func fillStruct(v reflect.Value, n *yaml.Node, path string) error {
	all := members(v.Type())
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i].Value
		at := slices.IndexFunc(all, func(m member) bool { return m.name == name })
		if at < 0 {
			return fmt.Errorf("no field %.40q, expected %s", strings.TrimPrefix(path+"."+name, "."), fieldsOf(v))
		}
		below := strings.TrimPrefix(path+"."+name, ".")
		if err := fill(v.Field(all[at].index), n.Content[i+1], below); err != nil {
			return err
		}
	}
	return nil
}
