package names

import "strings"

// kind of a rule.
type kind uint8

const (
	remapsTopics kind = 1 << iota
	remapsServices
	renamesNode
	movesNode
)

// Rule is one remap rule of a command line.
type Rule struct {
	Node     string // the rule is for the node of this name only; "" is all
	From, To string // From is "" in rules for the node itself
	kind     kind
}

// String is the rule in the syntax of ParseRule.
func (r Rule) String() string {
	var b strings.Builder
	if r.Node != "" {
		b.WriteString(r.Node + ":")
	}
	switch r.kind {
	case renamesNode:
		b.WriteString("__node")
	case movesNode:
		b.WriteString("__ns")
	case remapsTopics:
		b.WriteString("rostopic://")
	case remapsServices:
		b.WriteString("rosservice://")
	}
	return b.String() + r.From + ":=" + r.To
}

// ParseRule reads [node:]from:=to, where from may begin with rostopic:// or
// rosservice:// and both sides may be relative, private or absolute;
// [node:]__node:=name (or __name); or [node:]__ns:=/namespace.
func ParseRule(text string) (Rule, error) {
	l := newLexer(text)
	r := Rule{Node: l.prefixed()}
	var err error
	switch {
	case l.take(nodeKey):
		r.kind = renamesNode
		r.To, err = l.newName()
	case l.take(spaceKey):
		r.kind = movesNode
		r.To, err = l.newNamespace()
	default:
		err = l.remap(&r)
	}
	return r, err
}

func (l *lexer) newName() (string, error) {
	if !l.take(separator) {
		return "", l.expected(`":="`)
	}
	from, to := l.at, l.end
	if !l.take(word) {
		return "", l.expected("a node name")
	}
	if l.is != endOfText {
		return "", l.expected("the end of the node name")
	}
	return l.text[from:to], nil
}

func (l *lexer) newNamespace() (string, error) {
	if !l.take(separator) {
		return "", l.expected(`":="`)
	}
	namespace := l.text[l.at:]
	if l.is != slash {
		return "", l.expected(`a namespace that begins with "/"`)
	}
	for l.take(slash) && l.take(word) {
	}
	if l.is != endOfText {
		return "", l.expected(`words separated by single "/"`)
	}
	return namespace, nil
}

func (l *lexer) remap(r *Rule) error {
	switch {
	case l.take(topicURL):
		r.kind = remapsTopics
	case l.take(serviceURL):
		r.kind = remapsServices
	default:
		r.kind = remapsTopics | remapsServices
	}
	var err error
	if r.From, err = l.path(separator, `":="`); err != nil {
		return err
	}
	l.next()
	r.To, err = l.path(endOfText, "the end of the name")
	return err
}

// path reads words separated by slashes, after an optional "/" or "~/". It stops before the
// token until, which is called so in errors.
func (l *lexer) path(until token, called string) (string, error) {
	from := l.at
	if l.is == slash || l.is == tilde {
		l.next()
	}
	for {
		switch {
		case l.is == star || l.is == starStar:
			return "", &Error{l.text, l.at, "wildcards are not implemented in ROS"}
		case l.is == backslash:
			return "", &Error{l.text, l.at, "backreferences are not implemented in ROS"}
		case !l.take(word):
			return "", l.expected("a name")
		}
		if l.is == until {
			return l.text[from:l.at], nil
		}
		if !l.take(slash) {
			return "", l.expected(`"/" or ` + called)
		}
	}
}

// SplitParameter splits [node:]name:=value, the argument of -p, without a check of the
// value. node is "" for all nodes.
func SplitParameter(text string) (node, name, value string, err error) {
	l := newLexer(text)
	node = l.prefixed()
	from := l.at
	for {
		if l.is != word && l.is != slash {
			return "", "", "", l.expected("a parameter name")
		}
		for l.is == word || l.is == slash {
			l.next()
		}
		if l.is == separator {
			return node, text[from:l.at], text[l.end:], nil
		}
		if !l.take(dot) {
			return "", "", "", l.expected(`":=" or "."`)
		}
	}
}
