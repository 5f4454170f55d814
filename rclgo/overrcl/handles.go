package overrcl

import (
	"fmt"
	"reflect"
	"strings"
	"unsafe"

	"github.com/tiiuae/rclgo/pkg/rclgo"
)

// field is the struct field in which rclgo keeps an rcl object; rclgo has no accessor for it.
// Names and types are those of the version in go.mod. A program checks them when it starts.
type field struct {
	holder reflect.Type
	name   string
	index  []int
}

var (
	contextHandle      = fieldOf[rclgo.Context]("rcl_context_t")
	nodeHandle         = fieldOf[rclgo.Node]("rcl_node_t")
	publisherHandle    = fieldOf[rclgo.Publisher]("rcl_publisher_t")
	subscriptionHandle = fieldOf[rclgo.Subscription]("rcl_subscription_t")
	serviceHandle      = fieldOf[rclgo.Service]("rclService")
	clientHandle       = fieldOf[rclgo.Client]("rclClient")
)

func fieldOf[T any](name string) field {
	f := field{holder: reflect.TypeFor[T](), name: name}
	if s, ok := f.holder.FieldByName(name); ok && s.Type.Kind() == reflect.Pointer {
		f.index = s.Index
	}
	return f
}

// check returns an error if the field does not exist.
func (f field) check() error {
	if f.index == nil {
		return fmt.Errorf("%v of the rclgo built in has no pointer %s: expected the version in rclgo/go.mod", f.holder,
			f.name)
	}
	return nil
}

// of is the rcl object of holder, a pointer to the holder's type.
func (f field) of(holder any) unsafe.Pointer {
	return reflect.ValueOf(holder).Elem().FieldByIndex(f.index).UnsafePointer()
}

func handles() error {
	for _, f := range []field{contextHandle, nodeHandle, publisherHandle, subscriptionHandle, serviceHandle,
		clientHandle} {
		if err := f.check(); err != nil {
			return err
		}
	}
	return nil
}

// oneLine is an error text of rcl or rclgo without source positions and stack.
func oneLine(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	if kind, rest, found := strings.Cut(text, "] "); found && strings.HasPrefix(kind, "[*rclgo.") {
		text = rest
	}
	text = strings.TrimSpace(text)
	if before, place, found := cutLast(text, ", at "); found && strings.Contains(place, ":") {
		if i := strings.IndexByte(place, ' '); i >= 0 { // our own words go on behind
			return before + place[i:]
		}
		return before
	}
	return text
}

func cutLast(s, separator string) (before, after string, found bool) {
	if i := strings.LastIndex(s, separator); i >= 0 {
		return s[:i], s[i+len(separator):], true
	}
	return s, "", false
}
