//go:build cgo

package fastdds

import (
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/dds/ddstest"
)

// requireLibrary skips a test where the shared object is not there.
func requireLibrary(t testing.TB) {
	t.Helper()
	if err := Installed(); err != nil {
		t.Skip(err)
	}
}

var domainsUsed atomic.Int64

// newDomain numbers a domain that other tests of this process do not use. Fast DDS knows no
// tags: participants of other processes are ignored instead.
func newDomain() int { return 200 + int(domainsUsed.Add(1)%30) }

func open(t testing.TB, c Config) dds.Participant {
	t.Helper()
	p, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// TestConformance runs the suite; all samples pass through sockets.
func TestConformance(t *testing.T) {
	requireLibrary(t)
	ddstest.Run(t, func(testing.TB) ddstest.Open {
		domain := newDomain()
		return func(t testing.TB, userData []byte) dds.Participant {
			return open(t, Config{Domain: domain, Localhost: true, Alone: true, UserData: userData})
		}
	}, ddstest.History, ddstest.TwoTypes)
}

// TestOpenErrors: what is wrong is said in one line.
func TestOpenErrors(t *testing.T) {
	requireLibrary(t)
	for _, c := range []struct {
		config Config
		want   []string
	}{
		{Config{Domain: -1}, []string{"domain -1", "0 to 232"}},
		{Config{Domain: 233}, []string{"domain 233", "0 to 232"}},
		{Config{Domain: 231, Alone: true, Localhost: true, Security: &dds.Security{IdentityCA: "/nope.pem",
			Certificate: "/nope.pem", PrivateKey: "/nope.pem", PermissionsCA: "/nope.pem", Governance: "/nope.p7s",
			Permissions: "/nope.p7s"}}, []string{"domain 231: Fast DDS: ", "/nope.pem"}},
	} {
		p, err := Open(c.config)
		if err == nil {
			p.Close()
			t.Errorf("%+v: opened; expected an error with %q", c.config, c.want)
			continue
		}
		if strings.HasSuffix(err.Error(), "is built without security") { // as some are, which open no keys
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%+v: error %q: expected one line with %q", c.config, err, want)
			}
		}
	}
}

func TestOpenLogsTheVersion(t *testing.T) {
	requireLibrary(t)
	var lines []string
	open(t, Config{Domain: newDomain(), Alone: true, Localhost: true,
		Log: func(line string) { lines = append(lines, line) }})
	if len(lines) != 1 || !strings.HasPrefix(lines[0], "Fast DDS 2.") {
		t.Errorf("logged %q; expected one line with the version", lines)
	}
}

// missing is the environment variable under which this program says what Open says.
const missing = "VND_TEST_MISSING"

func TestMain(m *testing.M) {
	if os.Getenv(missing) == "" {
		os.Exit(m.Run())
	}
	_, err := Open(Config{})
	os.Stdout.WriteString(err.Error())
}
