package overdds

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	ethernet = Interface{Name: "eth0", Addresses: []string{"192.168.1.7"}, Multicast: true}
	loopback = Interface{Name: "lo", Addresses: []string{"127.0.0.1", "::1"}, Loopback: true}
	plain    = Interface{Name: "wwan0", Addresses: []string{"10.0.0.2"}}
)

const (
	localhostXML = `<CycloneDDS><Domain><General><Interfaces><NetworkInterface address="127.0.0.1"/></Interfaces>` +
		`</General></Domain></CycloneDDS>`
	subnetXML = `<CycloneDDS><Domain><Discovery><ParticipantIndex>auto</ParticipantIndex>` +
		`<MaxAutoParticipantIndex>32</MaxAutoParticipantIndex></Discovery></Domain></CycloneDDS>`
	oldAddress = "<General><NetworkInterfaceAddress>127.0.0.1</NetworkInterfaceAddress></General>"
	userXML    = `<CycloneDDS><Domain><General><AllowMulticast>spdp</AllowMulticast></General></Domain></CycloneDDS>`
	onLo       = `<CycloneDDS><Domain><General><Interfaces><NetworkInterface name="lo"/></Interfaces></General>` +
		`</Domain></CycloneDDS>`
)

func environment(vars map[string]string, interfaces ...Interface) (Config, error) {
	return Environment(func(name string) string { return vars[name] }, interfaces)
}

type vars = map[string]string

func jazzy(v vars) vars { v["ROS_DISTRO"] = "jazzy"; return v }

// withPeers is subnetXML with a list of peers.
func withPeers(list string) string {
	return strings.Replace(subnetXML, "</Discovery>", "<Peers>"+list+"</Peers></Discovery>", 1)
}

var (
	offXML = fmt.Sprintf("<CycloneDDS><Domain><General><AllowMulticast>false</AllowMulticast></General>"+
		"<Discovery><ParticipantIndex>none</ParticipantIndex><Tag>ros_discovery_off_%d</Tag></Discovery></Domain>"+
		"</CycloneDDS>", os.Getpid())
	localRangeXML = strings.Replace(withPeers(`<Peer address="localhost"/>`), "<Discovery>",
		"<General><AllowMulticast>false</AllowMulticast></General><Discovery>", 1)
)

// TestEnvironment: the configuration of rmw_cyclonedds_cpp in Humble and Jazzy, and our own part
// without multicast.
func TestEnvironment(t *testing.T) {
	for name, c := range map[string]struct {
		vars       vars
		interfaces []Interface
		domain     int
		xml        []string
	}{
		"nothing":         {vars{}, []Interface{loopback, ethernet}, 0, nil},
		"domain":          {vars{"ROS_DOMAIN_ID": "42"}, []Interface{ethernet}, 42, nil},
		"domain in hex":   {vars{"ROS_DOMAIN_ID": " 0x10"}, []Interface{ethernet}, 16, nil},
		"domain in octal": {vars{"ROS_DOMAIN_ID": "010"}, []Interface{ethernet}, 8, nil},
		"user's":          {vars{"CYCLONEDDS_URI": userXML}, []Interface{ethernet}, 0, []string{userXML}},
		"no network":      {vars{}, []Interface{loopback}, 0, []string{manyProcesses}},
		"no multicast": {vars{"CYCLONEDDS_URI": userXML}, []Interface{loopback, plain}, 0,
			[]string{manyProcesses, userXML}},
		"multicast is off": {vars{"CYCLONEDDS_URI": strings.Replace(userXML, "spdp", "false", 1)},
			[]Interface{ethernet}, 0, []string{manyProcesses, strings.Replace(userXML, "spdp", "false", 1)}},
		"loopback by name": {vars{"CYCLONEDDS_URI": onLo}, []Interface{loopback, ethernet}, 0,
			[]string{manyProcesses, onLo}},
		"said to multicast": {vars{"CYCLONEDDS_URI": strings.Replace(onLo, `"lo"`, `"lo" multicast="true"`, 1)},
			[]Interface{loopback}, 0, []string{strings.Replace(onLo, `"lo"`, `"lo" multicast="true"`, 1)}},
		"old style address": {vars{"CYCLONEDDS_URI": oldAddress}, []Interface{loopback, ethernet}, 0,
			[]string{manyProcesses, oldAddress}},
		"unknown interface": {vars{"CYCLONEDDS_URI": strings.Replace(onLo, `"lo"`, `"eth7"`, 1)},
			[]Interface{loopback}, 0, []string{strings.Replace(onLo, `"lo"`, `"eth7"`, 1)}},
		"localhost": {vars{"ROS_LOCALHOST_ONLY": "1"}, []Interface{loopback, ethernet}, 0,
			[]string{localhostXML, manyProcesses}},
		"not localhost": {vars{"ROS_LOCALHOST_ONLY": "0"}, []Interface{loopback, ethernet}, 0, nil},
		"localhost and more": {vars{"ROS_LOCALHOST_ONLY": "1", "CYCLONEDDS_URI": userXML},
			[]Interface{loopback, ethernet}, 0, []string{localhostXML, manyProcesses, userXML}},
		"range in Humble": {vars{"ROS_AUTOMATIC_DISCOVERY_RANGE": "OFF", "ROS_STATIC_PEERS": "a"},
			[]Interface{ethernet}, 0, nil},
		"Jazzy": {jazzy(vars{}), []Interface{ethernet}, 0, []string{subnetXML}},
		"Jazzy, system": {jazzy(vars{"ROS_AUTOMATIC_DISCOVERY_RANGE": "SYSTEM_DEFAULT", "ROS_STATIC_PEERS": "a"}),
			[]Interface{ethernet}, 0, nil},
		"Jazzy, peers": {jazzy(vars{"ROS_STATIC_PEERS": "10.0.0.1;robot<1>;"}), []Interface{ethernet}, 0,
			[]string{withPeers(`<Peer address="10.0.0.1"/><Peer address="robot&lt;1&gt;"/>`)}},
		"Jazzy, localhost": {jazzy(vars{"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}), []Interface{ethernet}, 0,
			[]string{localRangeXML, manyProcesses}},
		"Jazzy, deprecated": {jazzy(vars{"ROS_LOCALHOST_ONLY": "1", "ROS_STATIC_PEERS": "a",
			"ROS_AUTOMATIC_DISCOVERY_RANGE": "OFF"}), []Interface{ethernet}, 0, []string{localRangeXML, manyProcesses}},
		"Lyrical, gone": {vars{"ROS_DISTRO": "lyrical", "ROS_LOCALHOST_ONLY": "1", "ROS_STATIC_PEERS": "10.0.0.1"},
			[]Interface{ethernet}, 0, []string{withPeers(`<Peer address="10.0.0.1"/>`)}},
		"Jazzy, off": {jazzy(vars{"ROS_AUTOMATIC_DISCOVERY_RANGE": "OFF", "ROS_STATIC_PEERS": "a"}),
			[]Interface{ethernet}, 0, []string{offXML}},
		"Jazzy, no multicast": {jazzy(vars{"CYCLONEDDS_URI": userXML}), []Interface{loopback}, 0,
			[]string{subnetXML, manyProcesses, userXML}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := environment(c.vars, c.interfaces...)
			if err != nil {
				t.Fatal(err)
			}
			if want := strings.Join(c.xml, ","); got.Domain != c.domain || got.XML != want ||
				got.Distro != c.vars["ROS_DISTRO"] {
				t.Errorf("domain %d, distro %q\n got %s\nwant %s", got.Domain, got.Distro, got.XML, want)
			}
		})
	}
}

// TestEnvironmentURI: lists of inline XML and files are read the way Cyclone does.
func TestEnvironmentURI(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cyclone.xml")
	text := `<?xml version="1.0" encoding="ISO-8859-1"?><!-- ours -->` + "\n" + onLo + "\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, uri := range []string{
		"file://" + file, file, userXML + ",file://" + file, "file://" + file + "," + userXML, " ," + userXML + onLo +
			",",
		"<General><Interfaces><NetworkInterface name=\"lo\"/></></>," + userXML,
		`<General><Interfaces><NetworkInterface name="lo"` + "/>",
	} {
		got, err := environment(map[string]string{"CYCLONEDDS_URI": uri}, loopback, ethernet)
		if want := strings.Trim(manyProcesses+","+uri, ","); err != nil || got.XML != want {
			t.Errorf("%s: %v\n got %s\nwant %s", uri, err, got.XML, want)
		}
	}
}

func TestEnvironmentErrors(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "broken.xml")
	if err := os.WriteFile(broken, []byte("<CycloneDDS>\n<Domain>\n</CycloneDDS>"), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(t.TempDir(), "empty.xml")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, value string
		want        []string
	}{
		{"ROS_DOMAIN_ID", "233", []string{"ROS_DOMAIN_ID", `"233"`, "0 to 232"}},
		{"ROS_DOMAIN_ID", "-1", []string{"ROS_DOMAIN_ID", `"-1"`}},
		{"ROS_DOMAIN_ID", "seven", []string{"ROS_DOMAIN_ID", `"seven"`}},
		{"ROS_DOMAIN_ID", "1_0", []string{"ROS_DOMAIN_ID", `"1_0"`}},
		{"ROS_DOMAIN_ID", "99999999999999999999", []string{"ROS_DOMAIN_ID"}},
		{"ROS_LOCALHOST_ONLY", "true", []string{"ROS_LOCALHOST_ONLY", `"true"`, "0 or 1"}},
		{"ROS_AUTOMATIC_DISCOVERY_RANGE", "subnet",
			[]string{"ROS_AUTOMATIC_DISCOVERY_RANGE", `"subnet"`, "SUBNET, LOCALHOST, OFF or SYSTEM_DEFAULT"}},
		{"ROS_STATIC_PEERS", "a;" + strings.Repeat("x", 256), []string{"ROS_STATIC_PEERS", "256", "255"}},
		{"ROS_DISTRO", "Humble!", []string{"ROS_DISTRO", `"Humble!"`}},
		{"CYCLONEDDS_URI", "file:///no/such.xml", []string{"CYCLONEDDS_URI", "/no/such.xml", "no such file"}},
		{"CYCLONEDDS_URI", "file://" + broken, []string{"CYCLONEDDS_URI", broken, "line 3"}},
		{"CYCLONEDDS_URI", empty, []string{"CYCLONEDDS_URI", empty, "no XML element"}},
		{"CYCLONEDDS_URI", userXML + ",<Domain></General>",
			[]string{"CYCLONEDDS_URI", "part 2", "line 1", "</General>"}},
	} {
		vars := map[string]string{"ROS_DISTRO": "jazzy"}
		vars[c.name] = c.value
		_, err := environment(vars, ethernet)
		if err == nil {
			t.Errorf("%s=%s: no error", c.name, c.value)
			continue
		}
		for _, part := range c.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s=%s: %v, expected %q in it", c.name, c.value, err, part)
			}
		}
	}
}

func TestInterfaces(t *testing.T) {
	interfaces, err := Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range interfaces {
		if i.Loopback && i.Name != "" && len(i.Addresses) > 0 {
			return
		}
	}
	t.Errorf("no loopback among %v", interfaces)
}

func FuzzURI(f *testing.F) {
	for _, s := range []string{"", ",", userXML, userXML + "," + onLo, "<a", "<a/><b/>", "<?xml?><a/>", "<!-- -->"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		if !strings.HasPrefix(uri, "<") {
			return // would be a file's name
		}
		if s, err := readURI(uri); err == nil && s == nil {
			t.Error("neither settings nor an error")
		}
	})
}

// TestFastEnvironment: what rmw_fastrtps makes of the ranges.
func TestFastEnvironment(t *testing.T) {
	for _, c := range []struct {
		vars vars
		want FastConfig
	}{
		{vars{"ROS_LOCALHOST_ONLY": "1"}, FastConfig{Localhost: true}},
		{jazzy(vars{"ROS_STATIC_PEERS": "a"}), FastConfig{Distro: "jazzy", Peers: []string{"a"}}},
		{jazzy(vars{"ROS_AUTOMATIC_DISCOVERY_RANGE": "OFF"}), FastConfig{Distro: "jazzy", Alone: true}},
		{jazzy(vars{"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST", "ROS_STATIC_PEERS": "a"}),
			FastConfig{Distro: "jazzy", Unicast: true, Peers: []string{"a", "127.0.0.1"}}},
	} {
		got, err := FastEnvironment(func(name string) string { return c.vars[name] })
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Error(c.vars, err, diff)
		}
	}
}
