package param

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// parseYAML returns the root value of data's one document.
func parseYAML(data []byte) (*yaml.Node, error) {
	if err := printable(data); err != nil {
		return nil, err
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	switch err := d.Decode(&doc); {
	case err == io.EOF:
		return &yaml.Node{Kind: yaml.ScalarNode}, nil
	case err != nil:
		return nil, syntaxError(err, data)
	}
	root := doc.Content[0]
	if err := plain(root, 0); err != nil {
		return nil, err
	}
	switch err := d.Decode(&second); {
	case err == nil:
		return nil, errAt(&second, "a second YAML document, expected one")
	case err != io.EOF:
		return nil, syntaxError(err, data)
	}
	return root, nil
}

// printable refuses characters that YAML does not allow. yaml.v3 does too, but without the
// line.
func printable(data []byte) error {
	line := 1
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		switch {
		case r == '\n':
			line++
		case r == utf8.RuneError && size == 1:
			return &atLine{line, fmt.Errorf("byte 0x%02x is not UTF-8", data[i])}
		case r == '\ufeff' && i == 0, r == '\t', r == '\r', r == '\u0085':
		case unicode.IsControl(r), r == '\ufeff', r == '\ufffe', r == '\uffff':
			return &atLine{line, fmt.Errorf("control character %U", r)}
		}
		i += size
	}
	return nil
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// syntaxError takes the line out of yaml.v3's message, which has none for the first line.
// The parser's messages, unlike the scanner's, count lines from 0 and name the line where
// the surrounding map or list begins.
func syntaxError(err error, data []byte) error {
	text := err.Error()
	line := 1
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		text = text[len(m[0]):]
		fmt.Sscan(m[1], &line) // without a number it stays 1
		if strings.HasPrefix(text, "did not find expected") {
			if m[1] != "" {
				line = min(line+1, 1+bytes.Count(bytes.TrimSpace(data), []byte{'\n'}))
			}
			text += " at or below this line"
		}
	}
	return &atLine{line, fmt.Errorf("not YAML: %s", strings.Join(strings.Fields(text), " "))}
}

// tuple is the tag of lists in the files that ros2 launch writes.
const tuple = "!!python/tuple"

const deepest = 64 // levels of a file; real ones have five

// plain refuses YAML that ROS parameter files do not have.
func plain(n *yaml.Node, depth int) error {
	switch {
	case depth > deepest:
		return errAt(n, "more than %d levels deep", deepest)
	case n.Kind == yaml.AliasNode:
		return errAt(n, "alias %s: ROS parameter files have none, write the value", show("*"+n.Value))
	case n.Anchor != "":
		return errAt(n, "anchor %s: ROS parameter files have none", show("&"+n.Anchor))
	case n.Style&yaml.TaggedStyle != 0 && !(n.Kind == yaml.SequenceNode && n.ShortTag() == tuple):
		return errAt(n, "tag %s: not used here, quote a value to make it a string", show(n.Tag))
	}
	for _, c := range n.Content {
		if err := plain(c, depth+1); err != nil {
			return err
		}
	}
	if n.Kind == yaml.MappingNode {
		return uniqueKeys(n)
	}
	return nil
}

func uniqueKeys(m *yaml.Node) error {
	seen := map[string]int{}
	for i := 0; i < len(m.Content); i += 2 {
		key := m.Content[i]
		if key.Kind != yaml.ScalarNode {
			return errAt(key, "%s as a name, expected a word", kindOf(key))
		}
		if line, ok := seen[key.Value]; ok {
			return errAt(key, "duplicate %s, first on line %d", show(key.Value), line)
		}
		seen[key.Value] = key.Line
	}
	return nil
}
