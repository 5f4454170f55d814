package param

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// ErrNoBlock: a parameter file has no block for the node. ROS ignores that silently, so
// a node may warn and go on.
var ErrNoBlock = errors.New("no parameters for node")

// Load is Parse on the file at path.
func Load(path, node string, ptr any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return Parse(path, data, node, ptr)
}

// Parse reads a ROS 2 parameter file, called name in errors. It sets the parameters of
// *ptr that the file has for node, which is a full name ("/quad/latent_encoder") or one
// without namespace ("fit"). All others keep their values: Default comes first, and later
// files override earlier ones.
//
// Blocks are named `/ns/node:`, `ns:` over `node:`, or with wildcards: * is one name and
// ** any number of names. Where several match, the later line wins. `a.b: 1` and
// `a: {b: 1}` are the same.
//
// Errors name file and line. They are what yaml.v3 refuses, aliases, anchors, tags (but
// !!python/tuple, which launch writes), duplicates and unknown names. So are values out of
// range or of another type; as in ROS, an integer literal is not a double. On an error
// *ptr is unchanged.
func Parse(name string, data []byte, node string, ptr any) error {
	fields, err := fieldsOf(ptr)
	if err != nil {
		return err
	}
	values, warnings, err := parse(data, node, indexOf(fields))
	if err != nil {
		return inFile(name, err)
	}
	for _, w := range warnings {
		Warn(fmt.Sprintf("%s:%d: %v", name, w.line, w.err))
	}
	for _, f := range fields {
		if v, ok := values[f.Name]; ok {
			f.set(v)
		}
	}
	return nil
}

// atLine is an error at a line of the file, counted from 1.
type atLine struct {
	line int
	err  error
}

func (e *atLine) Error() string { return e.err.Error() }
func (e *atLine) Unwrap() error { return e.err }

func errAt(n *yaml.Node, format string, args ...any) error {
	return &atLine{n.Line, fmt.Errorf(format, args...)}
}

// inFile adds the file's name, and the line where it is known.
func inFile(name string, err error) error {
	var at *atLine
	if errors.As(err, &at) && at.line > 0 {
		return fmt.Errorf("%s:%d: %w", name, at.line, err)
	}
	return fmt.Errorf("%s: %w", name, err)
}

func parse(data []byte, node string, ix index) (values map[string]any, warnings []atLine, err error) {
	blocks, err := parseBlocks(data)
	if err != nil {
		return nil, nil, err
	}
	values = map[string]any{}
	matched := false
	var names []string
	for _, b := range blocks {
		names = append(names, "/"+strings.Join(b.path, "/"))
		if !matches(b.path, tokens(node)) {
			continue
		}
		matched = true
		r := reader{index: ix, values: values, lines: lines{}}
		if err := r.group("", b.params); err != nil {
			return nil, nil, err
		}
		warnings = append(warnings, r.warnings...)
	}
	if !matched {
		return nil, nil, fmt.Errorf("%w %q; the file has %s", ErrNoBlock, "/"+strings.Join(tokens(node), "/"),
			listed(names))
	}
	return values, warnings, nil
}

func listed(names []string) string {
	if len(names) == 0 {
		return "none at all"
	}
	for i, n := range names {
		names[i] = show(n)
	}
	return strings.Join(names[:min(len(names), 8)], ", ")
}

const marker = "ros__parameters"

// block holds the parameters of the nodes whose full names match path.
type block struct {
	path   []string // names and wildcards
	params *yaml.Node
}

// parseBlocks returns the blocks of a file's text.
func parseBlocks(data []byte) ([]block, error) {
	root, err := parseYAML(data)
	if err != nil || kindOf(root) == kindNothing {
		return nil, err
	}
	return findBlocks(nil, nil, root)
}

// findBlocks walks namespaces and node names down to each ros__parameters.
func findBlocks(found []block, path []string, m *yaml.Node) ([]block, error) {
	if m.Kind != yaml.MappingNode {
		return nil, errAt(m, "%s, expected a node name with %q below it", is(m), marker+":")
	}
	for i := 0; i < len(m.Content); i += 2 {
		key, value := m.Content[i], m.Content[i+1]
		if key.Value != marker {
			err := patternError(key)
			if err != nil {
				return nil, err
			}
			if found, err = findBlocks(found, slices.Concat(path, tokens(key.Value)), value); err != nil {
				return nil, err
			}
			continue
		}
		if len(path) == 0 {
			return nil, errAt(key, "%q without a node name above it", marker+":")
		}
		if kindOf(value) != kindNothing && value.Kind != yaml.MappingNode {
			return nil, errAt(value, "%s, expected the parameters of node %s", is(value),
				show("/"+strings.Join(path, "/")))
		}
		for _, b := range found {
			if slices.Equal(b.path, path) {
				return nil, errAt(key, "duplicate parameters of %s, first on line %d",
					show("/"+strings.Join(path, "/")), b.params.Line)
			}
		}
		found = append(found, block{path, value})
	}
	return found, nil
}

// patternError checks a key above ros__parameters: names and wildcards.
func patternError(key *yaml.Node) error {
	for _, token := range tokens(key.Value) {
		if token != "*" && token != "**" && !nodeForm.MatchString(token) {
			return errAt(key, "node %s: expected names of letters, digits and _ that do not start with a digit, "+
				"or * or **", show(key.Value))
		}
	}
	return nil
}

var nodeForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// tokens splits a node name: "/quad/x" and "quad/x" have the same two.
func tokens(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool { return r == '/' })
}

// matches reports whether a block's path, with wildcards, names the node.
func matches(path, node []string) bool {
	reach := make([]bool, len(node)+1) // reach[j]: the path so far takes node[:j]
	reach[0] = true
	for _, p := range path {
		next := make([]bool, len(node)+1)
		for j := range next {
			if p == "**" {
				next[j] = reach[j] || j > 0 && next[j-1]
			} else {
				next[j] = j > 0 && reach[j-1] && (p == "*" || p == node[j-1])
			}
		}
		reach = next
	}
	return reach[len(node)]
}

// reader collects the values of one block.
type reader struct {
	index
	values   map[string]any
	lines    lines
	warnings []atLine
}

// lines are those on which the parameters of a block were set.
type lines map[string]int

// decode reads the value of a parameter that the block has not set before.
func (l lines) decode(name string, key, value *yaml.Node, decode func(*yaml.Node) (any, error)) (any, error) {
	if line, ok := l[name]; ok {
		return nil, errAt(key, "parameter %q: duplicate, first on line %d", short(name), line)
	}
	l[name] = key.Line
	v, err := decode(value)
	if err != nil {
		at := &atLine{line: value.Line}
		errors.As(err, &at) // an element of a list has its own line
		return nil, &atLine{at.line, fmt.Errorf("parameter %q: %w", short(name), err)}
	}
	return v, nil
}

func (r *reader) group(prefix string, m *yaml.Node) error {
	for i := 0; i+1 < len(m.Content); i += 2 {
		key, value := m.Content[i], m.Content[i+1]
		name := prefix + key.Value
		f, isLeaf := r.leaf[name]
		if former, ok := r.former[name]; ok {
			f, isLeaf = former, true
			r.warnings = append(r.warnings, atLine{key.Line, errors.New(Renamed(name, f.Name))})
		}
		switch {
		case isLeaf:
			first, twice := r.lines[f.Name]
			if twice && len(f.Former) > 0 {
				return errAt(key, "parameter %q: duplicate, first on line %d (%q is its old name)",
					short(f.Name), first, f.Former[0])
			}
			v, err := r.lines.decode(f.Name, key, value, f.decode)
			if err != nil {
				return err
			}
			r.values[f.Name] = v
		case !r.isGroup(name):
			return &atLine{key.Line, r.unknown(name)}
		case value.Kind != yaml.MappingNode:
			return errAt(key, "parameter %q: %s, expected a map of %s", name, is(value),
				strings.Join(r.under(name), ", "))
		default:
			if err := r.group(name+".", value); err != nil {
				return err
			}
		}
	}
	return nil
}
