package overrcl

/*
#include <stdlib.h>
#include "rcl.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"unsafe"

	"github.com/tiiuae/rclgo/pkg/rclgo"
	"github.com/tiiuae/rclgo/pkg/rclgo/types"

	"vnd/pkg/ros2/ament"
)

// messageType looks up a message in its package's libraries.
func messageType(name string) (types.MessageTypeSupport, error) {
	pkg, rest, _ := strings.Cut(name, "/")
	message, ok := strings.CutPrefix(rest, "msg/")
	if !ok {
		return nil, fmt.Errorf("type %s: rclgo looks up messages of a package's msg/ alone", name)
	}
	support, err := rclgo.LoadDynamicMessageTypeSupport(pkg, message)
	if err == nil && support.TypeSupport() == nil {
		err = errors.New("no such message in it")
	}
	if err != nil {
		return nil, typeError(pkg, name, err)
	}
	return support, nil
}

// typeError is the error of a type that was not found. It says whether its package is
// installed.
func typeError(pkg, name string, err error) error {
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
	parts := strings.Split(name, "/") // three: Check has seen them
	pkg, part, short := C.CString(parts[0]), C.CString(parts[1]), C.CString(parts[2])
	defer C.free(unsafe.Pointer(pkg))
	defer C.free(unsafe.Pointer(part))
	defer C.free(unsafe.Pointer(short))
	t := &serviceType{}
	if err := failure(C.vnd_find_service(pkg, part, short, &t.support, &t.request, &t.response)); err != nil {
		return nil, typeError(parts[0], name, err)
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
