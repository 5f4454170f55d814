// Package securitytest makes SROS 2 keystores for tests, as ros2 security does.
package securitytest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Governance and permissions as sros2 writes them: everything is encrypted, and participants
// without a certificate are rejected.
const (
	Governance = `<?xml version="1.0" encoding="utf-8"?>
<dds xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
  xsi:noNamespaceSchemaLocation="http://www.omg.org/spec/DDS-SECURITY/20170901/omg_shared_ca_governance.xsd">
  <domain_access_rules><domain_rule>
    <domains><id_range><min>0</min><max>230</max></id_range></domains>
    <allow_unauthenticated_participants>false</allow_unauthenticated_participants>
    <enable_join_access_control>true</enable_join_access_control>
    <discovery_protection_kind>ENCRYPT</discovery_protection_kind>
    <liveliness_protection_kind>ENCRYPT</liveliness_protection_kind>
    <rtps_protection_kind>SIGN</rtps_protection_kind>
    <topic_access_rules><topic_rule>
      <topic_expression>*</topic_expression>
      <enable_discovery_protection>true</enable_discovery_protection>
      <enable_liveliness_protection>true</enable_liveliness_protection>
      <enable_read_access_control>true</enable_read_access_control>
      <enable_write_access_control>true</enable_write_access_control>
      <metadata_protection_kind>ENCRYPT</metadata_protection_kind>
      <data_protection_kind>ENCRYPT</data_protection_kind>
    </topic_rule></topic_access_rules>
  </domain_rule></domain_access_rules>
</dds>
`
	permissions = `<?xml version="1.0" encoding="utf-8"?>
<dds xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
  xsi:noNamespaceSchemaLocation="http://www.omg.org/spec/DDS-SECURITY/20170901/omg_shared_ca_permissions.xsd">
  <permissions><grant name="%[1]s">
    <subject_name>CN=%[1]s</subject_name>
    <validity><not_before>2020-01-01T00:00:00</not_before><not_after>2120-01-01T00:00:00</not_after></validity>
    <allow_rule>
      <domains><id_range><min>0</min><max>230</max></id_range></domains>
      <publish><topics>%[2]s</topics></publish>
      <subscribe><topics>%[3]s</topics></subscribe>
    </allow_rule>
    <default>DENY</default>
  </grant></permissions>
</dds>
`
)

// Everything are the topics of an enclave that may publish all.
const Everything = "<topic>*</topic>"

// Authority is an identity CA and a permissions CA in one, with a keystore.
type Authority struct {
	Keystore string // ROS_SECURITY_KEYSTORE
	Rules    string // the governance of later enclaves

	t           *testing.T
	folder      string // of its own certificate and key
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// New makes an authority. It skips the test without openssl, which signs the rules.
func New(t *testing.T) *Authority {
	t.Helper()
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("no openssl, which signs the keystore's rules: ", err)
	}
	a := &Authority{Keystore: t.TempDir(), Rules: Governance, t: t, folder: t.TempDir(), key: newKey(t)}
	a.certificate = &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "lab"},
		NotBefore: time.Now().AddDate(-1, 0, 0), NotAfter: time.Now().AddDate(1, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature}
	a.issue(a.folder, a.certificate, a.key)
	return a
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// Environment of a process in an enclave.
func (a *Authority) Environment(enclave string) []string {
	return []string{"ROS_SECURITY_ENABLE=true", "ROS_SECURITY_STRATEGY=Enforce", "ROS_SECURITY_KEYSTORE=" + a.Keystore,
		"ROS_SECURITY_ENCLAVE_OVERRIDE=" + enclave}
}

// Enclave adds an enclave that may publish topics, such as Everything, and subscribe to all.
func (a *Authority) Enclave(name, topics string) (folder string) {
	a.t.Helper()
	return a.Grant(name, topics, Everything)
}

// Grant adds an enclave that may publish some topics and subscribe to some.
func (a *Authority) Grant(name, publish, subscribe string) (folder string) {
	a.t.Helper()
	folder = filepath.Join(a.Keystore, "enclaves", name)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		a.t.Fatal(err)
	}
	a.issue(folder, &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name},
		NotBefore: a.certificate.NotBefore, NotAfter: a.certificate.NotAfter}, newKey(a.t))
	a.trust(folder, "identity_ca.cert.pem")
	a.trust(folder, "permissions_ca.cert.pem")
	a.sign(filepath.Join(folder, "governance.p7s"), a.Rules)
	a.sign(filepath.Join(folder, "permissions.p7s"), fmt.Sprintf(permissions, name, publish, subscribe))
	return folder
}

// Impostor adds an enclave with a name and the certificate of another authority.
func (a *Authority) Impostor(name string) {
	a.t.Helper()
	other := New(a.t)
	other.Keystore = a.Keystore
	folder := other.Enclave(name, Everything)
	a.trust(folder, "identity_ca.cert.pem")
}

// trust makes this authority an enclave's own, by a link as in sros2.
func (a *Authority) trust(folder, name string) {
	a.t.Helper()
	link := filepath.Join(folder, name)
	if err := os.RemoveAll(link); err != nil {
		a.t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(a.folder, "cert.pem"), link); err != nil {
		a.t.Fatal(err)
	}
}

// issue writes cert.pem and key.pem.
func (a *Authority) issue(folder string, c *x509.Certificate, key *ecdsa.PrivateKey) {
	a.t.Helper()
	certificate, err := x509.CreateCertificate(rand.Reader, c, a.certificate, &key.PublicKey, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	a.pem(filepath.Join(folder, "cert.pem"), "CERTIFICATE", certificate)
	a.pem(filepath.Join(folder, "key.pem"), "PRIVATE KEY", private)
}

func (a *Authority) pem(path, kind string, der []byte) {
	a.t.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		a.t.Fatal(err)
	}
}

// sign writes a text that the authority has signed.
func (a *Authority) sign(path, text string) {
	a.t.Helper()
	c := exec.Command("openssl", "smime", "-sign", "-text", "-out", path,
		"-signer", filepath.Join(a.folder, "cert.pem"), "-inkey", filepath.Join(a.folder, "key.pem"))
	c.Stdin = strings.NewReader(text)
	if out, err := c.CombinedOutput(); err != nil {
		a.t.Fatalf("openssl: %v: %s", err, out)
	}
}
