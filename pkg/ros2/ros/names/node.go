package names

import "strings"

// Node is a node's full name, and the rules that remap its topics and services.
type Node struct {
	Name      string
	Namespace string // absolute: "/" or "/quad"
	Rules     []Rule // the first that matches applies
}

// NewNode applies the rules to a node's name and namespace. A namespace of "" is "/", and
// the leading slash may be missing.
func NewNode(namespace, name string, rules []Rule) (Node, error) {
	if err := CheckNode(name); err != nil {
		return Node{}, err
	}
	if !strings.HasPrefix(namespace, "/") {
		namespace = "/" + namespace
	}
	if err := CheckNamespace(namespace); err != nil {
		return Node{}, err
	}
	n := Node{name, namespace, rules}
	if r := n.first(renamesNode, ""); r != nil {
		n.Name = r.To
	}
	if r := n.first(movesNode, ""); r != nil {
		n.Namespace = r.To
	}
	if err := CheckNode(n.Name); err != nil {
		return Node{}, err
	}
	return n, CheckNamespace(n.Namespace)
}

// FullName is such as "/quad/fit".
func (n Node) FullName() string { return Join(n.Namespace, n.Name) }

// Join appends a relative name to an absolute one.
func Join(namespace, name string) string {
	if strings.HasSuffix(namespace, "/") {
		return namespace + name
	}
	return namespace + "/" + name
}

// LoggerName is such as "quad.fit".
func (n Node) LoggerName() string {
	return strings.ReplaceAll(strings.TrimPrefix(n.FullName(), "/"), "/", ".")
}

// Topic expands and remaps the name of a topic to its full name.
func (n Node) Topic(name string) (string, error) { return n.resolve(name, remapsTopics) }

// Service does the same for a service.
func (n Node) Service(name string) (string, error) { return n.resolve(name, remapsServices) }

func (n Node) resolve(name string, what kind) (string, error) {
	full, err := n.Expand(name)
	if err != nil {
		return "", err
	}
	if r := n.first(what, full); r != nil {
		if full, err = n.Expand(r.To); err != nil {
			return "", err
		}
	}
	return full, CheckTopic(full)
}

// first returns the first rule of a kind for the node. A rule for topics or services must
// also match the full name.
func (n Node) first(what kind, full string) *Rule {
	for i := range n.Rules {
		r := &n.Rules[i]
		if r.kind&what == 0 || r.Node != "" && r.Node != n.Name {
			continue
		}
		if what&(remapsTopics|remapsServices) != 0 {
			from, err := n.Expand(r.From)
			if err != nil || from != full {
				continue
			}
		}
		return r
	}
	return nil
}

// Expand makes a name absolute, without remapping.
func (n Node) Expand(name string) (string, error) {
	if err := CheckRelative(name); err != nil {
		return "", err
	}
	full := name
	if rest, private := strings.CutPrefix(name, "~"); private {
		full = n.FullName() + rest
	}
	full = strings.NewReplacer("{node}", n.Name, "{ns}", n.Namespace, "{namespace}", n.Namespace).Replace(full)
	if strings.Contains(full, "{") {
		return "", unknownSubstitution(name)
	}
	if full[0] != '/' {
		full = Join(n.Namespace, full)
	}
	return full, nil
}

func unknownSubstitution(name string) error {
	for at := 0; ; {
		open := at + strings.IndexByte(name[at:], '{')
		end := open + strings.IndexByte(name[open:], '}') + 1
		switch name[open:end] {
		case "{node}", "{ns}", "{namespace}":
			at = end
		default:
			return &Error{name, open, "unknown substitution " + name[open:end] +
				", expected {node}, {ns} or {namespace}"}
		}
	}
}
