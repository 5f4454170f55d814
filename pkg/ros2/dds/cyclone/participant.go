//go:build cgo && !nocyclone

package cyclone

// #include <stdlib.h>
// #include "glue.h"
import "C"

import (
	"fmt"
	"net/netip"
	"strings"
	"unsafe"

	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/dds/native"
)

// Open creates a participant. The error names the fault in the configuration: file
// and line, network interface, or domain.
func Open(c Config) (dds.Participant, error) {
	if err := checkLibrary(); err != nil {
		return nil, err
	}
	if c.Domain < 0 || c.Domain > 232 {
		return nil, fmt.Errorf("domain %d: expected 0 to 232", c.Domain)
	}
	if err := checkConfig(c.XML); err != nil {
		return nil, err
	}
	secrets, err := properties(c.Security)
	if err != nil {
		return nil, err
	}
	d, lines, err := acquire(c)
	if err != nil {
		return nil, err
	}
	p, more, err := openParticipant(c, secrets)
	if err != nil {
		d.release()
		return nil, err
	}
	if c.Log != nil {
		for _, line := range append(lines, more...) {
			c.Log("Cyclone DDS: " + line)
		}
		c.Log(fmt.Sprintf("Cyclone DDS %s: domain %d on %s", C.DDS_VERSION, c.Domain, interfacesOf(p)))
	}
	guid := *(*dds.GUID)(unsafe.Pointer(&p.guid))
	return native.New(unsafe.Pointer(&C.vnd_cyclone), unsafe.Pointer(p), guid, d.release), nil
}

// openParticipant creates a participant in Cyclone DDS, and returns the lines that it logged.
func openParticipant(c Config, properties string) (p *C.struct_vnd_participant, logged []string, err error) {
	p = (*C.struct_vnd_participant)(C.calloc(1, C.sizeof_struct_vnd_participant))
	data, pairs := C.CBytes(c.UserData), C.CString(properties)
	defer C.free(data)
	defer C.free(unsafe.Pointer(pairs))
	text := make([]byte, 16<<10)
	code := C.vnd_participant_open(p, C.uint32_t(c.Domain), data, C.size_t(len(c.UserData)),
		pairs, (*C.char)(unsafe.Pointer(&text[0])), C.size_t(len(text)))
	logged = logLines(C.GoString((*C.char)(unsafe.Pointer(&text[0]))))
	if code == 0 {
		return p, logged, nil
	}
	C.free(unsafe.Pointer(p))
	if len(logged) > 0 {
		return nil, nil, fmt.Errorf("domain %d: participant: %s", c.Domain, strings.Join(logged, "; "))
	}
	return nil, nil, fmt.Errorf("domain %d: participant: %w", c.Domain, failure(code))
}

// interfacesOf lists the network interfaces that the participant's domain uses.
func interfacesOf(p *C.struct_vnd_participant) string {
	var all string
	var name [64]C.char
	var address [16]C.uint8_t
	var ipv6 C.bool
	for i := C.int(0); C.vnd_interface(p, i, &name[0], C.size_t(len(name)), &address[0], &ipv6); i++ {
		raw := C.GoBytes(unsafe.Pointer(&address), 16)
		ip, _ := netip.AddrFromSlice(raw[12:])
		if ipv6 {
			ip, _ = netip.AddrFromSlice(raw)
		}
		if i > 0 {
			all += ", "
		}
		all += fmt.Sprintf("%s (%v)", C.GoString(&name[0]), ip)
	}
	return all
}
