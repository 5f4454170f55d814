package overdds

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vnd/pkg/ros2/dds"
)

func TestSecurity(t *testing.T) {
	keystore := t.TempDir()
	folder := filepath.Join(keystore, "enclaves", "quad", "fit")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{}
	find := func(enclave string) (*dds.Security, error) {
		return Security(func(key string) string { return env[key] }, enclave)
	}
	if _, err := find("/quad/fit"); err == nil || !strings.Contains(err.Error(), "ROS_SECURITY_KEYSTORE is not set") {
		t.Errorf("no keystore: %v", err)
	}
	env["ROS_SECURITY_KEYSTORE"] = keystore
	for _, name := range []string{"identity_ca.cert.pem", "cert.pem", "key.pem", "permissions_ca.cert.pem",
		"governance.p7s", "permissions.p7s"} {
		path := filepath.Join(folder, name)
		if _, err := find("/quad/fit"); err == nil || !strings.Contains(err.Error(), path) ||
			!strings.Contains(err.Error(), "enclave /quad/fit") {
			t.Errorf("without %s: %v", name, err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	in := func(name string) string { return filepath.Join(folder, name) }
	want := &dds.Security{IdentityCA: in("identity_ca.cert.pem"), Certificate: in("cert.pem"),
		PrivateKey:    in("key.pem"),
		PermissionsCA: in("permissions_ca.cert.pem"), Governance: in("governance.p7s"),
		Permissions: in("permissions.p7s")}
	got, err := find("/quad/fit")
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if _, err := find("/"); err == nil {
		t.Error("the keys of / are those of /quad/fit")
	}
	env["ROS_SECURITY_ENCLAVE_OVERRIDE"], want.RevocationList = "/quad/fit", in("crl.pem")
	if err := os.WriteFile(want.RevocationList, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err = find("/")
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
}
