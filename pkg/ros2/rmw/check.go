package rmw

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrNoOwner is what an entity is refused with that nobody would hear of.
var ErrNoOwner = errors.New("expected an owner, whom Wait would name")

// Check returns what keeps a topic from being made, naming it, or nil.
func (t Topic) Check() error { return check("topic", t.Name, t.Type) }

// Check returns what keeps a service from being made, naming it, or nil.
func (s Service) Check() error { return check("service", s.Name, s.Type) }

func check(kind, name, typ string) error {
	parts := strings.Split(typ, "/")
	switch {
	case len(name) < 2 || name[0] != '/':
		return fmt.Errorf("%s %q: expected a fully qualified name such as /quad/step", kind, name)
	case len(parts) != 3 || slices.Contains(parts, ""):
		return fmt.Errorf("%s %s: type %q, expected three parts as in std_msgs/msg/String", kind, name, typ)
	}
	return nil
}
