//go:build cgo && !nocyclone

package cyclone

// #include "glue.h"
import "C"

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"vnd/pkg/ros2/dds"
)

// properties are the participant's properties for DDS Security: alternating lines of
// name and value, none for nil.
func properties(s *dds.Security) (string, error) {
	if s == nil {
		return "", nil
	}
	all := []string{
		"dds.sec.auth.identity_ca", "file:" + s.IdentityCA,
		"dds.sec.auth.identity_certificate", "file:" + s.Certificate,
		"dds.sec.auth.private_key", "file:" + s.PrivateKey,
		"dds.sec.access.permissions_ca", "file:" + s.PermissionsCA,
		"dds.sec.access.governance", "file:" + s.Governance,
		"dds.sec.access.permissions", "file:" + s.Permissions,
	}
	if s.RevocationList != "" {
		all = append(all, "org.eclipse.cyclonedds.sec.auth.crl", "file:"+s.RevocationList)
	}
	for _, p := range []struct{ property, file, functions string }{
		{"auth", "auth", "authentication"}, {"crypto", "crypto", "crypto"}, {"access", "ac", "access_control"},
	} {
		path, err := plugin("libdds_security_" + p.file + ".so")
		if err != nil {
			return "", err
		}
		library := "dds.sec." + p.property + ".library."
		all = append(all, library+"path", path, library+"init", "init_"+p.functions,
			library+"finalize", "finalize_"+p.functions)
	}
	return strings.Join(all, "\n"), nil
}

// plugin finds a library of DDS Security in the folder of Cyclone DDS, or in the
// subfolder that Debian uses.
func plugin(name string) (string, error) {
	library := C.GoString(C.vnd_library())
	folder := filepath.Dir(library)
	below, err := filepath.Glob(filepath.Join(folder, "libddsc*", name))
	if err != nil {
		return "", err
	}
	for _, path := range append([]string{filepath.Join(folder, name)}, below...) {
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("DDS Security: no %s beside %s", name, library)
}
