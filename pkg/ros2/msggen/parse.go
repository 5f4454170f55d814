package msggen

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// The naming rules of rosidl_adapter. What is derived from a service or an action carries an underscore in its name.
var (
	packageName = regexp.MustCompile(`^[a-z](_?[a-z0-9])*$`)
	typeName    = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*(_Goal|_Result|_Feedback|_FeedbackMessage|` +
		`(_SendGoal|_GetResult)?(_Request|_Response|_Event)?)?$`)
	fieldName    = regexp.MustCompile(`^[a-z](_?[a-z0-9])*$`)
	constantName = regexp.MustCompile(`^[A-Z](_?[A-Z0-9])*$`)
	typeSyntax   = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_/]*)(?:<=([0-9]+))?(?:\[(<=)?([0-9]*)\])?$`)
)

// ParseMessage parses the text of a .msg file. file names it in errors, full is the message's full
// name: a type without a package is looked for in that one's.
func ParseMessage(file, full, text string) (*Message, error) {
	if _, _, _, err := SplitName(full); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	p := parser{file: file, msg: &Message{Name: full, Text: text}}
	if err := p.parse(strings.Split(text, "\n")); err != nil {
		return nil, err
	}
	return p.msg, nil
}

// ParseService parses the text of a .srv file: request, a line of three dashes, response.
func ParseService(file, full, text string) (*Service, error) {
	halves, err := parseSections(file, full, text, "_Request", "_Response")
	if err != nil {
		return nil, err
	}
	return &Service{Name: full, Doc: halves[0].Doc, Request: halves[0], Response: halves[1]}, nil
}

// parser parses the lines of one message.
type parser struct {
	file  string
	line  int // number of the current line, from 1
	msg   *Message
	above []string // comment lines since the last blank line or declaration
}

func (p *parser) errorf(format string, args ...any) error {
	return fmt.Errorf("%s:%d: "+format, append([]any{p.file, p.line}, args...)...)
}

// parse reads the lines. Comment lines directly above a declaration belong to it; a block that ends in a
// blank line before the first declaration belongs to the message.
func (p *parser) parse(lines []string) error {
	seen := map[string]bool{}
	for _, line := range lines {
		p.line++
		line = strings.TrimSpace(line)
		if line == "" {
			p.endBlock()
			continue
		}
		if line[0] == '#' {
			p.above = append(p.above, commentText(line))
			continue
		}
		name, err := p.declaration(line)
		if err != nil {
			return err
		}
		if seen[name] {
			return p.errorf("%s is declared twice", name)
		}
		seen[name] = true
	}
	p.endBlock()
	return nil
}

func (p *parser) endBlock() {
	if len(p.msg.Fields)+len(p.msg.Constants) == 0 {
		if len(p.msg.Doc) > 0 && len(p.above) > 0 {
			p.msg.Doc = append(p.msg.Doc, "")
		}
		p.msg.Doc = append(p.msg.Doc, p.above...)
	}
	p.above = nil
}

func commentText(s string) string {
	return strings.TrimSpace(strings.TrimLeft(s, "#"))
}

// declaration parses `type name [default]` or `type NAME = value`, with or without a comment after it.
func (p *parser) declaration(line string) (string, error) {
	typeText, rest := cutWord(line)
	if strings.HasPrefix(rest, "#") || rest == "" {
		return "", p.errorf("%q, expected a type and a name", line)
	}
	t, err := p.parseType(typeText)
	if err != nil {
		return "", err
	}
	end := strings.IndexAny(rest, " \t=#")
	if end < 0 {
		end = len(rest)
	}
	name, rest := rest[:end], strings.TrimLeft(rest[end:], " \t")
	isConstant := strings.HasPrefix(rest, "=")
	value, comment := splitComment(strings.TrimLeft(strings.TrimPrefix(rest, "="), " \t"))
	doc := p.above
	if comment != "" {
		doc = append(doc, comment)
	}
	p.above = nil
	if isConstant {
		return name, p.constant(name, t, value, doc)
	}
	return name, p.field(name, t, value, doc)
}

func cutWord(s string) (word, rest string) {
	end := strings.IndexAny(s, " \t")
	if end < 0 {
		return s, ""
	}
	return s[:end], strings.TrimLeft(s[end:], " \t")
}

// splitComment cuts at the first # outside quotes. Only a quote that starts a value, or an element
// of a list, opens a string: an unquoted string may hold an apostrophe.
func splitComment(s string) (value, comment string) {
	quote := byte(0)
	fresh := true // a quote here would open a string
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quote != 0 && c == '\\':
			i++
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
		case c == '#':
			return strings.TrimSpace(s[:i]), commentText(s[i:])
		case fresh && (c == '"' || c == '\''):
			quote = c
		}
		fresh = quote == 0 && (c == '[' || c == ',' || fresh && (c == ' ' || c == '\t'))
	}
	return strings.TrimSpace(s), ""
}

func (p *parser) parseType(s string) (Type, error) {
	m := typeSyntax.FindStringSubmatch(s)
	if m == nil {
		return Type{}, p.errorf("type %q, expected one like int32, string<=8, geometry_msgs/Point, with [], [3] or "+
			"[<=3]", s)
	}
	name, stringBound, upTo, size := m[1], m[2], m[3], m[4]
	t := Type{Base: bases[name]}
	if t.Base == 0 {
		ref, err := p.resolveName(name)
		if err != nil {
			return Type{}, err
		}
		t.Base, t.Ref = Nested, ref
	}
	var err error
	if stringBound != "" {
		if t.Base != String && t.Base != WString {
			return Type{}, p.errorf("type %q: a bound before [] needs string or wstring", s)
		}
		if t.StringBound, err = p.size(stringBound); err != nil {
			return Type{}, err
		}
	}
	switch {
	case !strings.HasSuffix(s, "]"):
		return t, nil
	case size == "" && upTo == "":
		t.Array = Unbounded
		return t, nil
	case upTo != "":
		t.Array = Bounded
	default:
		t.Array = Fixed
	}
	t.Size, err = p.size(size)
	return t, err
}

func (p *parser) size(s string) (int, error) {
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil || n == 0 {
		return 0, p.errorf("size %q, expected 1 to 2147483647", s)
	}
	return int(n), nil
}

// resolveName returns the full name of Name, package/Name or package/msg/Name.
func (p *parser) resolveName(name string) (string, error) {
	if name == "time" || name == "duration" {
		return "", p.errorf("type %q is of ROS 1, expected builtin_interfaces/Time or Duration", name)
	}
	own, parent, _, err := SplitName(p.msg.Name)
	if err != nil {
		return "", err
	}
	full := name
	switch strings.Count(name, "/") {
	case 0:
		full = own + "/msg/" + name
	case 1:
		full = strings.Replace(name, "/", "/msg/", 1)
	}
	if _, kind, _, err := SplitName(full); err != nil || kind != "msg" && (kind != parent || kind != "action") {
		return "", p.errorf("type %q, expected a primitive, Name or package/Name", name)
	}
	return full, nil
}

func (p *parser) field(name string, t Type, value string, doc []string) error {
	if !fieldName.MatchString(name) {
		return p.errorf("field name %q, expected lower_snake_case", name)
	}
	f := Field{Name: name, Type: t, Doc: doc}
	if value != "" {
		v, err := parseDefault(t, value)
		if err != nil {
			return p.errorf("default of %s: %w", name, err)
		}
		f.Default = v
	}
	p.msg.Fields = append(p.msg.Fields, f)
	return nil
}

func (p *parser) constant(name string, t Type, value string, doc []string) error {
	if !constantName.MatchString(name) {
		return p.errorf("constant name %q, expected UPPER_SNAKE_CASE", name)
	}
	if t.Base == Nested || t.Array != Single {
		return p.errorf("constant %s, expected a primitive type without []", name)
	}
	v, err := parseValue(t, value)
	if err != nil {
		return p.errorf("constant %s: %w", name, err)
	}
	p.msg.Constants = append(p.msg.Constants, Constant{Name: name, Type: t, Value: v, Doc: doc})
	return nil
}
