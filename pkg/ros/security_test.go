package ros_test

import (
	"context"
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

	builtin "vnd/msgs/builtin_interfaces"
	rclinterfaces "vnd/msgs/rcl_interfaces"
	"vnd/pkg/rmw"
	"vnd/pkg/ros"
)

// The rules that sros2 writes: everything is encrypted, and who cannot show a
// certificate is not heard.
const (
	governance = `<?xml version="1.0" encoding="utf-8"?>
<dds xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:noNamespaceSchemaLocation="http://www.omg.org/spec/DDS-SECURITY/20170901/omg_shared_ca_governance.xsd">
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
<dds xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:noNamespaceSchemaLocation="http://www.omg.org/spec/DDS-SECURITY/20170901/omg_shared_ca_permissions.xsd">
  <permissions><grant name="%[1]s">
    <subject_name>CN=%[1]s</subject_name>
    <validity><not_before>2020-01-01T00:00:00</not_before><not_after>2120-01-01T00:00:00</not_after></validity>
    <allow_rule>
      <domains><id_range><min>0</min><max>230</max></id_range></domains>
      <publish><topics>%[2]s</topics></publish>
      <subscribe><topics><topic>*</topic></topics></subscribe>
    </allow_rule>
    <default>DENY</default>
  </grant></permissions>
</dds>
`
)

// authority signs certificates and rules: an identity and permissions CA in one.
type authority struct {
	folder      string // where its own certificate and key are
	rules       string // governance
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{folder: t.TempDir(), rules: governance, key: must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)}
	a.certificate = &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "lab"},
		NotBefore: time.Now().AddDate(-1, 0, 0), NotAfter: time.Now().AddDate(1, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature}
	a.issue(t, a.folder, a.certificate, a.key)
	return a
}

// issue writes cert.pem and key.pem.
func (a *authority) issue(t *testing.T, folder string, c *x509.Certificate, key *ecdsa.PrivateKey) {
	t.Helper()
	der := must(x509.CreateCertificate(rand.Reader, c, a.certificate, &key.PublicKey, a.key))(t)
	writePEM(t, filepath.Join(folder, "cert.pem"), "CERTIFICATE", der)
	writePEM(t, filepath.Join(folder, "key.pem"), "PRIVATE KEY", must(x509.MarshalPKCS8PrivateKey(key))(t))
}

func writePEM(t *testing.T, path, kind string, der []byte) {
	t.Helper()
	write(t, path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// sign writes what the authority says, signed.
func (a *authority) sign(t *testing.T, path, text string) {
	t.Helper()
	c := exec.Command("openssl", "smime", "-sign", "-text", "-out", path, "-signer", filepath.Join(a.folder, "cert.pem"), "-inkey", filepath.Join(a.folder, "key.pem"))
	c.Stdin = strings.NewReader(text)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("openssl: %v: %s", err, out)
	}
}

// enclave adds one to a keystore, as ros2 security create_enclave does, which may
// publish what topics say.
func (a *authority) enclave(t *testing.T, keystore, name, topics string) (folder string) {
	t.Helper()
	folder = filepath.Join(keystore, "enclaves", name)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name},
		NotBefore: a.certificate.NotBefore, NotAfter: a.certificate.NotAfter}
	a.issue(t, folder, c, must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t))
	own := must(os.ReadFile(filepath.Join(a.folder, "cert.pem")))(t)
	write(t, filepath.Join(folder, "identity_ca.cert.pem"), own)
	write(t, filepath.Join(folder, "permissions_ca.cert.pem"), own)
	a.sign(t, filepath.Join(folder, "governance.p7s"), a.rules)
	a.sign(t, filepath.Join(folder, "permissions.p7s"), fmt.Sprintf(permissions, name, topics))
	return folder
}

// everything may be published by who has these rights.
const everything = "<topic>*</topic>"

// Nodes with keys of one keystore hear each other, in all that nodes say, and know
// who speaks, whatever of a message the rules protect; one without is not heard.
func TestWireSecured(t *testing.T) {
	needsSecurity(t)
	for name, change := range map[string]func(string) string{
		"as sros2 writes it": func(rules string) string { return rules },
		"wholly encrypted":   func(rules string) string { return strings.ReplaceAll(rules, "SIGN", "ENCRYPT") },
		"submessages":        func(rules string) string { return strings.ReplaceAll(rules, "SIGN", "NONE") },
		"authenticated only": func(rules string) string {
			return strings.ReplaceAll(strings.ReplaceAll(rules, "SIGN", "NONE"), "ENCRYPT", "NONE")
		},
	} {
		t.Run(name, func(t *testing.T) {
			lab, keystore := newAuthority(t), t.TempDir()
			lab.rules = change(governance)
			lab.enclave(t, keystore, "/watcher", everything)
			lab.enclave(t, keystore, "/probe", everything)
			hearSecured(t, keystore)
		})
	}
}

func needsSecurity(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("no openssl, which signs the keystore's rules: ", err)
	}
}

// secured is the environment of who has keys.
func secured(keystore string) []string {
	return []string{"ROS_SECURITY_ENABLE=true", "ROS_SECURITY_STRATEGY=Enforce", "ROS_SECURITY_KEYSTORE=" + keystore}
}

func hearSecured(t *testing.T, keystore string) {
	t.Helper()
	env := environment()
	for _, pair := range secured(keystore) {
		key, value, _ := strings.Cut(pair, "=")
		env[key] = value
	}
	n := newNode(t, overTheWireIn(t, env, "--ros-args", "-e", "/watcher"), "watcher")
	spin(t, n.Context(), 0)
	out, _ := startProbe(t, nil, "--ros-args", "-r", "__node:=apart")
	if err := n.Context().WaitForGraph(within(t), func(rmw.Graph) bool { return strings.Contains(out.String(), "spinning") }); err != nil {
		t.Fatal(err)
	}
	startProbe(t, secured(keystore), "--ros-args", "-e", "/probe", "-r", "__ns:=/quad")
	from := make(chan rmw.GID, 1)
	must(ros.NewSubscription(n, "/quad/now", ros.DefaultQoS(), func(_ *builtin.Time, i ros.Info) {
		select {
		case from <- i.Publisher:
		default:
		}
	}))(t)
	r := ask[rclinterfaces.GetParametersRequest, rclinterfaces.GetParametersResponse](t, n, "/quad/probe/get_parameters",
		&rclinterfaces.GetParametersRequest{Names: []string{"gain"}})
	if len(r.Values) != 1 {
		t.Errorf("parameters: %+v", r)
	}
	speaker := receive(t, from)
	err := n.Context().WaitForGraph(within(t), func(g rmw.Graph) bool {
		of := g.Publishers("/quad/now")
		return len(of) == 1 && of[0].GID == speaker && of[0].Node == rmw.NodeName{Namespace: "/quad", Name: "probe", Enclave: "/probe"}
	})
	if err != nil {
		t.Errorf("%v says %+v, as %+v", err, speaker, n.Context().Graph().Publishers("/quad/now"))
	}
	if hasNode(n.Context().Graph(), "apart") {
		t.Error("one without keys is seen")
	}
}

// One that may not publish a topic, or has keys that nobody trusts, is told so.
func TestWireSecurityRefused(t *testing.T) {
	needsSecurity(t)
	lab, keystore := newAuthority(t), t.TempDir()
	lab.enclave(t, keystore, "/mute", "<topic>ros_discovery_info</topic>")
	stranger := newAuthority(t).enclave(t, keystore, "/stranger", everything)
	write(t, filepath.Join(stranger, "identity_ca.cert.pem"), must(os.ReadFile(filepath.Join(lab.folder, "cert.pem")))(t))
	for enclave, want := range map[string]string{
		"/mute":     "topic rt/rosout of type rcl_interfaces::msg::dds_::Log_: Cyclone DDS: not allowed by security\n",
		"/stranger": "participant: Error occurred while validating local permission: Certificate not valid",
	} {
		got := refused(t, append(secured(keystore), "ROS_SECURITY_ENCLAVE_OVERRIDE="+enclave))
		if !strings.Contains(got, want) || strings.Count(got, "\n") != 1 {
			t.Errorf("%s: %q, want one line with %q", enclave, got, want)
		}
	}
}

// refused returns what a probe says that must not be, in an environment.
func refused(t *testing.T, env []string) string {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	p := exec.CommandContext(ctx, os.Args[0])
	p.Env = append(append(append(os.Environ(), loopback()...), programVariable+"=probe", "ROS_LOG_DIR="+t.TempDir()), env...)
	out, err := p.CombinedOutput()
	if strings.Contains(string(out), "built without Cyclone DDS") {
		t.Skip(string(out))
	}
	if err == nil || ctx.Err() != nil {
		t.Errorf("%v: not refused: %v: %s", env, err, out)
	}
	return string(out)
}
