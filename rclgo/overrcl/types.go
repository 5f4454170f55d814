package overrcl

/*
#include <stdlib.h>
#include "rcl.h"
*/
import "C"

import (
	"fmt"
	"os"
	"strings"
	"unsafe"

	"github.com/tiiuae/rclgo/pkg/rclgo/types"

	"vnd/pkg/ros2/ament"
)

// messageType is the type support of a message for rclgo, which makes no messages of it: its other methods are nil.
type messageType struct {
	types.MessageTypeSupport
	support *C.rosidl_message_type_support_t
}

// newMessageType looks up a message in its package's libraries. rclgo itself looks up those of msg/ alone, and
// feedback of an action is of action/.
func newMessageType(name string) (*messageType, error) {
	parts := namedParts(name)
	defer parts.free()
	t := &messageType{}
	if err := failure(C.vnd_find_message(parts.pkg, parts.part, parts.short, &t.support)); err != nil {
		return nil, typeError(name, err)
	}
	return t, nil
}

// TypeSupport implements rclgo's interface.
func (t *messageType) TypeSupport() unsafe.Pointer { return unsafe.Pointer(t.support) }

// typeParts are the three parts of a type's name, in C's memory.
type typeParts struct{ pkg, part, short *C.char }

// namedParts takes a name that Check has seen.
func namedParts(name string) typeParts {
	parts := strings.Split(name, "/")
	return typeParts{C.CString(parts[0]), C.CString(parts[1]), C.CString(parts[2])}
}

func (p typeParts) free() {
	for _, s := range []*C.char{p.pkg, p.part, p.short} {
		C.free(unsafe.Pointer(s))
	}
}

// typeError is the error of a type that was not found. It says whether its package is
// installed.
func typeError(name string, err error) error {
	pkg, _, _ := strings.Cut(name, "/")
	w, notFound := ament.Find(os.Getenv)
	if notFound != nil {
		return notFound
	}
	if _, there := w.Prefix(pkg); !there {
		return fmt.Errorf("type %s: no package %s in AMENT_PREFIX_PATH: build it and source its workspace", name, pkg)
	}
	return fmt.Errorf("type %s: package %s of this workspace: %s", name, pkg, oneLine(err.Error()))
}

// serviceType is the type support of a service, for rclgo and for messages in C.
type serviceType struct {
	support           *C.rosidl_service_type_support_t
	request, response C.struct_vnd_message_type
}

func newServiceType(name string) (*serviceType, error) {
	parts := namedParts(name)
	defer parts.free()
	t := &serviceType{}
	if err := failure(C.vnd_find_service(parts.pkg, parts.part, parts.short, &t.support, &t.request,
		&t.response)); err != nil {
		return nil, typeError(name, err)
	}
	return t, nil
}

// TypeSupport implements rclgo's interface.
func (t *serviceType) TypeSupport() unsafe.Pointer { return unsafe.Pointer(t.support) }

// Request is nil: rclgo does not make messages of this type.
func (t *serviceType) Request() types.MessageTypeSupport { return nil }

// Response is nil, as Request is.
func (t *serviceType) Response() types.MessageTypeSupport { return nil }

// exchange is the state of a server or client in C: it takes messages of one type and sends
// the other.
func (t *serviceType) exchange(in, out C.struct_vnd_message_type) *C.struct_vnd_exchange {
	x := (*C.struct_vnd_exchange)(C.malloc(C.sizeof_struct_vnd_exchange))
	*x = C.struct_vnd_exchange{in: in, out: out}
	C.vnd_message_init(&x.message)
	return x
}

func endExchange(x *C.struct_vnd_exchange) {
	C.vnd_message_fini(&x.message)
	C.free(unsafe.Pointer(x))
}
