//go:build cgo && !nocyclone

package cyclone

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"vnd/pkg/ros2/dds"
)

// TestOpenErrors: what is wrong is said in one line.
func TestOpenErrors(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.xml")
	if err := os.WriteFile(bad, []byte("<CycloneDDS>\n<Domain></CycloneDDS>"), 0o600); err != nil {
		t.Fatal(err)
	}
	local := func(general string) string {
		return "<General><Interfaces>" + general + "</Interfaces><AllowMulticast>false</AllowMulticast></General>"
	}
	alone := loopback(newTag(), wireDomain)
	open(t, Config{Domain: 40, XML: alone})
	taken := regexp.MustCompile(`Index>(auto|120)`).ReplaceAllString(alone, "Index>7") // an index of nobody's choice
	open(t, Config{Domain: 43, XML: taken})
	few := strings.Replace(alone, "Index>120<", "Index>1<", 1)
	var full error
	for i := 0; i < 5 && full == nil; i++ {
		var p dds.Participant
		if p, full = Open(Config{Domain: 44 + i, XML: few}); full == nil {
			defer p.Close()
		}
	}
	if full == nil || !strings.Contains(full.Error(), "no free participant index") ||
		!strings.Contains(full.Error(), "MaxAutoParticipantIndex") {
		t.Errorf("five processes where one index is left: error %v", full)
	}
	for _, c := range []struct {
		config Config
		want   []string
	}{
		{Config{Domain: -1}, []string{"domain -1", "0 to 232"}},
		{Config{Domain: 233}, []string{"domain 233", "0 to 232"}},
		{Config{Domain: 41, XML: local(`<NetworkInterface name="nope0"/>`)},
			[]string{"domain 41", "no such network interface: nope0", "lo (127.0.0.1"}},
		{Config{Domain: 41, XML: local(`<NetworkInterface address="198.51.100.7"/>`)},
			[]string{"no such network interface: 198.51.100.7", "lo (127.0.0.1"}},
		{Config{Domain: 41, XML: taken}, []string{"domain 41"}},
		{Config{Domain: 41, XML: bad}, []string{bad + ":2:"}},
		{Config{Domain: 41, XML: "<General><Nonsense>1</></>"}, []string{"Nonsense", "unknown element"}},
		{Config{Domain: 41, XML: "<General><AllowMulticast>maybe</></>"}, []string{"AllowMulticast", "maybe"}},
		{Config{Domain: 40}, []string{"domain 40", "another configuration"}},
		{Config{Domain: 40, XML: alone, Security: &dds.Security{Certificate: "cert.pem"}},
			[]string{"domain 40", "one enclave for a domain"}},
		{Config{Domain: 46, XML: alone, Security: &dds.Security{IdentityCA: "/nope.pem", Certificate: "/nope.pem",
			PrivateKey:    "/nope.pem",
			PermissionsCA: "/nope.pem", Governance: "/nope.p7s", Permissions: "/nope.p7s"}},
			[]string{"domain 46: participant: ", "/nope.pem"}},
	} {
		p, err := Open(c.config)
		if err == nil {
			p.Close()
			t.Errorf("%+v: opened; expected an error with %q", c.config, c.want)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%+v: error %q: expected one line with %q", c.config, err, want)
			}
		}
	}
}

func TestOpenLogsTheInterface(t *testing.T) {
	var lines []string
	log := func(line string) { lines = append(lines, line) }
	open(t, Config{Domain: 42, XML: loopback(newTag(), wireDomain), Log: log})
	want := "Cyclone DDS 0.10."
	if len(lines) != 1 || !strings.HasPrefix(lines[0], want) ||
		!strings.HasSuffix(lines[0], "domain 42 on lo (127.0.0.1)") {
		t.Errorf("logged %q; expected one line with %q, the domain and lo (127.0.0.1)", lines, want)
	}
}

func TestCheckVersion(t *testing.T) {
	for path, want := range map[string]string{
		"/usr/lib/libddsc.so.0.10.2":     "",
		"/opt/ros/lib/libddsc.so.0.10.5": "",
		"/usr/lib/libddsc.so.0.9.1":      "is Cyclone DDS 0.9; this program was compiled for 0.10",
		"/usr/lib/libddsc.so.11.0.1":     "is Cyclone DDS 11.0; this program was compiled for 0.10",
		"/usr/bin/static":                "no version of Cyclone DDS in its name",
	} {
		t.Run(filepath.Base(path), func(t *testing.T) {
			err := checkVersion(path, 0, 10)
			if (err == nil) != (want == "") {
				t.Errorf("%s: error %v, expected %q", path, err, want)
			} else if err != nil && !(strings.Contains(err.Error(), want) && strings.Contains(err.Error(), path)) {
				t.Errorf("%s: error %v, expected %q", path, err, want)
			}
		})
	}
	if err := checkLibrary(); err != nil {
		t.Error(err)
	}
}

// count counts the entries of a folder of this process in /proc.
func count(t *testing.T, folder string) int {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join("/proc/self", folder))
	if err != nil {
		t.Skip("no /proc here: ", err)
	}
	return len(entries)
}

// openAndClose opens a participant with endpoints, and closes it.
func openAndClose(t *testing.T, c Config) {
	t.Helper()
	p, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		topic := dds.Topic{Name: fmt.Sprint("rt/stays", i), Type: "a::msg::dds_::B_"}
		if _, err := p.NewWriter(topic, dds.QoS{}, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := p.NewReader(topic, dds.QoS{}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.Wait(0, nil); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestClosedParticipantsLeaveNoFileAndNoThread(t *testing.T) {
	cycle := func(n int) {
		for range n {
			xml := loopback(newTag(), wireDomain)
			for domain := 50; domain < 52; domain++ {
				openAndClose(t, Config{Domain: domain, XML: xml})
			}
		}
	}
	cycle(3) // Go's runtime has its threads then
	files, threads := count(t, "fd"), count(t, "task")
	cycle(25)
	const spare = 4 // threads that Go's runtime may add
	for end := time.Now().Add(30 * time.Second); count(t, "fd") > files || count(t, "task") > threads+spare; {
		if time.Now().After(end) {
			t.Fatalf("after 50 participants: %d file descriptors, before %d; %d threads, before %d",
				count(t, "fd"), files, count(t, "task"), threads)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// TestMemoryStays: samples written and taken leave no memory behind, nor do those
// that nobody takes.
func TestMemoryStays(t *testing.T) {
	p := open(t, Config{Domain: 53, XML: loopback(newTag(), wireDomain)})
	topic := dds.Topic{Name: "rt/memory", Type: "a::msg::dds_::B_"}
	q := dds.QoS{Reliability: dds.Reliable, Depth: 5, Durability: dds.TransientLocal}
	w, err := p.NewWriter(topic, q, nil)
	if err != nil {
		t.Fatal(err)
	}
	readers := make([]dds.Reader, 2)
	for i := range readers {
		if readers[i], err = p.NewReader(topic, q, nil); err != nil {
			t.Fatal(err)
		}
	}
	sample := make([]byte, 10_000)
	write := func(n int) {
		for range n {
			if err := w.Write(sample, 0); err != nil {
				t.Fatal(err)
			}
			if _, err := readers[0].Take(10, func(*dds.Sample) {}); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(100)
	before := resident(t)
	write(20_000) // 200 MB in all
	if after := resident(t); after > before+50<<20 {
		t.Errorf("after 200 MB of samples %d MB are resident, before %d MB", after>>20, before>>20)
	}
}

// resident is this process' memory in bytes.
func resident(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip("no /proc here: ", err)
	}
	var size, pages int
	if _, err := fmt.Sscan(string(text), &size, &pages); err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}
