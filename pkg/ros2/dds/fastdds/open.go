//go:build cgo

package fastdds

// #cgo CFLAGS: -I${SRCDIR}/../native
// #cgo LDFLAGS: -ldl
// #include <stdlib.h>
// #include "load.h"
import "C"

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unsafe"

	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/dds/native"
)

// Open creates a participant. Its error is one line: what to install, or what Fast DDS
// has against the configuration.
func Open(c Config) (dds.Participant, error) {
	if c.Domain < 0 || c.Domain > 232 {
		return nil, fmt.Errorf("domain %d: expected 0 to 232", c.Domain)
	}
	peers, err := addresses(c.Peers)
	if err != nil {
		return nil, err
	}
	l, err := library()
	if err != nil {
		return nil, err
	}
	data, at, pairs := C.CBytes(c.UserData), C.CString(peers), C.CString(properties(c.Security))
	defer C.free(data)
	defer C.free(unsafe.Pointer(at))
	defer C.free(unsafe.Pointer(pairs))
	profiles := profiles(C.GoString(l.fastdds))
	config := C.struct_vnd_fast_config{domain: C.uint32_t(c.Domain), localhost: C.bool(c.Localhost),
		alone: C.bool(c.Alone), unicast: C.bool(c.Unicast),
		profile: C.bool(profiles != ""), peers: at, properties: pairs, user_data: data,
		user_data_size: C.size_t(len(c.UserData))}
	var guid dds.GUID
	var text [8 << 10]C.char
	p := C.vnd_open(l, &config, (*C.uint8_t)(unsafe.Pointer(&guid)), &text[0], C.size_t(len(text)))
	lines := strings.Split(strings.TrimSpace(C.GoString(&text[0])), "\n")
	if p == nil {
		return nil, fmt.Errorf("domain %d%s: Fast DDS: %s", c.Domain, profiles, strings.Join(lines, "; "))
	}
	if c.Log != nil {
		for _, line := range lines {
			if line != "" {
				c.Log("Fast DDS: " + line)
			}
		}
		c.Log(fmt.Sprintf("Fast DDS %s: domain %d", C.GoString(l.fastdds), c.Domain))
	}
	return native.New(unsafe.Pointer(l.api), p, guid, func() {}), nil
}

// Installed returns why Open would not find Fast DDS, or nil.
func Installed() error {
	_, err := library()
	return err
}

// Unlike returns why nodes on a ROS 2's own Fast DDS do not find ours where both have keys, "" where they do.
func Unlike() string {
	l, err := library()
	if err != nil {
		return ""
	}
	return unlike(C.GoString(l.fastdds))
}

// library loads the shared object.
var library = sync.OnceValues(func() (*C.struct_vnd_fast_library, error) {
	path := os.Getenv("VND_FASTDDS")
	if path == "" {
		program, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("%w (%w)", ErrMissing, err)
		}
		path = filepath.Join(filepath.Dir(program), Library)
	}
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("%w (no %s)", ErrMissing, path)
	}
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	var failed *C.char
	l := C.vnd_load(name, &failed)
	switch {
	case l == nil:
		return nil, fmt.Errorf("%s: %s: install Fast DDS (apt-get install libfastrtps-dev), then make build", path,
			C.GoString(failed))
	case l.version != C.VND_API_VERSION:
		return nil, fmt.Errorf("%s is of another version of this program: make build makes both", path)
	}
	return l, nil
})

// profiles names the variables by which Fast DDS of a version finds profiles, as far as they are set; "" for none.
func profiles(version string) (text string) {
	names := []string{"FASTRTPS_DEFAULT_PROFILES_FILE"}
	var minor int // of series 2, which alone has this interface
	if _, _ = fmt.Sscanf(version, "2.%d", &minor); minor >= 12 {
		names = append(names, "FASTDDS_DEFAULT_PROFILES_FILE")
	}
	for _, name := range names {
		if path := os.Getenv(name); path != "" {
			text += fmt.Sprintf(", %s is %q", name, path)
		}
	}
	return text
}

// addresses looks names up; Fast DDS takes IPv4 addresses.
func addresses(peers []string) (string, error) {
	var all []string
	for _, peer := range peers {
		ip, err := net.ResolveIPAddr("ip4", peer)
		if err != nil {
			return "", fmt.Errorf("peer %s: %w", peer, err)
		}
		all = append(all, ip.String())
	}
	return strings.Join(all, "\n"), nil
}

// properties are the participant's properties for DDS Security: name and value in turns, a
// line each, none for nil.
func properties(s *dds.Security) string {
	if s == nil {
		return ""
	}
	const identity, access = "dds.sec.auth.builtin.PKI-DH.", "dds.sec.access.builtin.Access-Permissions."
	all := []string{
		"dds.sec.auth.plugin", "builtin.PKI-DH",
		identity + "identity_ca", "file://" + s.IdentityCA,
		identity + "identity_certificate", "file://" + s.Certificate,
		identity + "private_key", "file://" + s.PrivateKey,
		"dds.sec.crypto.plugin", "builtin.AES-GCM-GMAC",
		"dds.sec.access.plugin", "builtin.Access-Permissions",
		access + "permissions_ca", "file://" + s.PermissionsCA,
		access + "governance", "file://" + s.Governance,
		access + "permissions", "file://" + s.Permissions,
	}
	if s.RevocationList != "" {
		all = append(all, identity+"identity_crl", "file://"+s.RevocationList)
	}
	return strings.Join(all, "\n")
}
