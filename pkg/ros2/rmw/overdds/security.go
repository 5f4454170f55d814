package overdds

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"vnd/pkg/ros2/dds"
)

// Security finds an enclave's files in the keystore ROS_SECURITY_KEYSTORE, as rcl and
// rmw_dds_common do. ROS_SECURITY_ENCLAVE_OVERRIDE replaces the enclave. The error
// names the file that is missing.
func Security(getenv func(string) string, enclave string) (*dds.Security, error) {
	if other := getenv("ROS_SECURITY_ENCLAVE_OVERRIDE"); other != "" {
		enclave = other
	}
	keystore := getenv("ROS_SECURITY_KEYSTORE")
	if keystore == "" {
		return nil, errors.New("ROS_SECURITY_KEYSTORE is not set, expected a keystore's folder")
	}
	folder := filepath.Join(keystore, "enclaves", enclave)
	s := &dds.Security{}
	for _, file := range []struct {
		name string
		path *string
	}{
		{"identity_ca.cert.pem", &s.IdentityCA}, {"cert.pem", &s.Certificate}, {"key.pem", &s.PrivateKey},
		{"permissions_ca.cert.pem", &s.PermissionsCA}, {"governance.p7s", &s.Governance},
		{"permissions.p7s", &s.Permissions},
	} {
		*file.path = filepath.Join(folder, file.name)
		if _, err := os.Stat(*file.path); err != nil {
			return nil, fmt.Errorf("ROS_SECURITY_KEYSTORE, enclave %s: %w", enclave, err)
		}
	}
	if list := filepath.Join(folder, "crl.pem"); exists(list) {
		s.RevocationList = list
	}
	return s, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
