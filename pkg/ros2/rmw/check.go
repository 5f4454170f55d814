package rmw

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrNoOwner: Wait could not report an entity without an owner.
var ErrNoOwner = errors.New("expected an owner, by which Wait reports the entity")

// Check returns an error that names the topic when its name or type is malformed.
func (t Topic) Check() error { return check("topic", t.Name, t.Type) }

// Check returns an error that names the service when its name or type is malformed.
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
