package param

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// Block holds the assignments of a parameter file for the nodes that its name matches.
type Block struct {
	Name        string // "/quad/fit", "/**"
	Assignments []Assignment
	path        []string
}

// Assignment sets one parameter of some node. Its value has the type that ROS reads from
// the YAML.
type Assignment struct {
	Name  string // full, dotted
	Value any    // bool, int64, float64, string, []bool, []int64, []float64, []string or EmptyList
	Where string // for errors: "file:line", or the argument
	// Shared: it is for whatever nodes have the parameter, as in a block /**.
	Shared bool
}

const argument = "argument "

// Argument is the assignment of one command line argument, -p text.
func Argument(name string, value any, text string) Assignment {
	return Assignment{Name: name, Value: value, Where: fmt.Sprintf(argument+"%.300q", "-p "+text)}
}

// IsArgument reports whether a is of the command line, not of a file.
func (a Assignment) IsArgument() bool { return strings.HasPrefix(a.Where, argument) }

// EmptyList is [], a list of any type.
type EmptyList struct{}

// NewBlock is a block for the nodes that name matches, as of the argument -p.
func NewBlock(name string, assignments ...Assignment) Block {
	path := tokens(name)
	return Block{"/" + strings.Join(path, "/"), assignments, path}
}

// Matches reports whether the block is for the node of this full name.
func (b Block) Matches(node string) bool { return matches(b.path, tokens(node)) }

// Scan reads a ROS 2 parameter file, called name in errors, of nodes whose parameters are
// not declared here. The syntax is that of Parse; types are inferred as in ROS.
func Scan(name string, data []byte) ([]Block, error) {
	found, err := parseBlocks(data)
	if err != nil {
		return nil, inFile(name, err)
	}
	var blocks []Block
	for _, f := range found {
		s := scanner{name, NewBlock(strings.Join(f.path, "/")), lines{}}
		if err := s.group("", f.params); err != nil {
			return nil, inFile(name, err)
		}
		blocks = append(blocks, s.Block)
	}
	return blocks, nil
}

// Assignments are those that the file at path has for the node of this full name, in their order.
func Assignments(path, node string) (all []Assignment, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	blocks, err := Scan(path, data)
	for _, b := range blocks {
		if b.Matches(node) {
			all = append(all, b.Assignments...)
		}
	}
	return all, err
}

// scanner collects the assignments of one block.
type scanner struct {
	file string
	Block
	lines lines
}

func (s *scanner) group(prefix string, m *yaml.Node) error {
	for i := 0; i+1 < len(m.Content); i += 2 {
		key, value := m.Content[i], m.Content[i+1]
		if key.Value == "" {
			return errAt(key, "a parameter without a name")
		}
		name := prefix + key.Value
		if value.Kind == yaml.MappingNode {
			if err := s.group(name+".", value); err != nil {
				return err
			}
			continue
		}
		v, err := s.lines.decode(name, key, value, infer)
		if err != nil {
			return err
		}
		s.Assignments = append(s.Assignments, Assignment{name, v, fmt.Sprintf("%s:%d", s.file, value.Line),
			!slices.ContainsFunc(s.path, func(token string) bool { return token != "*" && token != "**" })})
	}
	return nil
}

// ScanValue reads the value of -p name:=value.
func ScanValue(text string) (any, error) {
	root, err := parseYAML([]byte(text))
	if err != nil {
		return nil, err
	}
	return infer(root)
}

// infer reads a value with the type that ROS' parser (rcl_yaml_param_parser) gives it.
// Null, maps, nested and mixed lists have none.
func infer(n *yaml.Node) (any, error) {
	if n.Kind == yaml.SequenceNode {
		return inferList(n)
	}
	switch kindOf(n) {
	case kindNothing:
		return nil, errors.New(`got nothing, expected a value: write "" for the empty string`)
	case kindMap:
		return nil, errors.New("got a map, expected a value or a list")
	case kindBool:
		return slices.Contains(trues, n.Value), nil
	case kindInteger:
		// Base 0 as strtoll has it; what it cannot read, strtod may.
		if x, err := strconv.ParseInt(n.Value, 0, 64); err == nil {
			return x, nil
		}
		return inferDouble(n.Value)
	case kindDouble:
		return inferDouble(n.Value)
	}
	return n.Value, nil
}

func inferDouble(s string) (any, error) {
	number := s
	if infForm.MatchString(s) { // .inf, which strconv knows as inf
		number = strings.Replace(s, ".", "", 1)
	}
	x, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return nil, fmt.Errorf("%s does not fit a double", show(s))
	}
	return x, nil
}

func inferList(n *yaml.Node) (any, error) {
	if len(n.Content) == 0 {
		return EmptyList{}, nil
	}
	items := make([]any, len(n.Content))
	for i, c := range n.Content {
		if c.Kind == yaml.SequenceNode {
			return nil, errAt(c, "element %d: got a list, ROS has no lists of lists", i)
		}
		v, err := infer(c)
		if err != nil {
			return nil, errAt(c, "element %d: %w", i, err)
		}
		if i > 0 && kindOf(c) != kindOf(n.Content[0]) {
			return nil, errAt(c, "element %d: %s, expected %s as before: ROS lists hold one type", i, is(c),
				kindOf(n.Content[0]))
		}
		items[i] = v
	}
	switch items[0].(type) {
	case bool:
		return listOf[bool](items)
	case int64:
		return listOf[int64](items)
	case float64:
		return listOf[float64](items)
	}
	return listOf[string](items)
}

func listOf[T any](items []any) ([]T, error) {
	xs := make([]T, len(items))
	for i, item := range items {
		x, ok := item.(T)
		if !ok { // an integer too large, which became a double
			return nil, fmt.Errorf("element %d: %v does not fit an integer", i, item)
		}
		xs[i] = x
	}
	return xs, nil
}
