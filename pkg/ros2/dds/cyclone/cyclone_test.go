//go:build cgo && !nocyclone

package cyclone

import (
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/dds/ddstest"
)

// wireDomain is a domain for this process, so that packages under test use different
// ports. The tag separates processes that share one all the same.
var wireDomain = 100 + os.Getpid()%100

// loopback is the configuration of participants on 127.0.0.1, which has no multicast,
// with a tag.
func loopback(tag string, domain int) string {
	return fmt.Sprintf(`<General><Interfaces><NetworkInterface address="127.0.0.1"/></Interfaces>
<AllowMulticast>false</AllowMulticast></General>
<Discovery><ExternalDomainId>%d</ExternalDomainId><Tag>%s</Tag><ParticipantIndex>auto</ParticipantIndex>
<MaxAutoParticipantIndex>120</MaxAutoParticipantIndex><Peers><Peer address="127.0.0.1"/></Peers></Discovery>`,
		domain, tag)
}

var tags atomic.Int64

// newTag is a tag that no other test has.
func newTag() string { return fmt.Sprintf("vnd-test-%d-%d", os.Getpid(), tags.Add(1)) }

var domainsUsed atomic.Int64

// newDomain numbers a domain on this side, where tests run side by side.
func newDomain() int { return int(domainsUsed.Add(1) % 230) }

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

// TestConformance runs the suite with participants that share a domain in this
// process, where samples take the short way.
func TestConformance(t *testing.T) {
	ddstest.Run(t, func(testing.TB) ddstest.Open {
		xml, domain := loopback(newTag(), wireDomain), newDomain()
		return func(t testing.TB, userData []byte) dds.Participant {
			return open(t, Config{Domain: domain, XML: xml, UserData: userData})
		}
	})
}

// TestConformanceWire runs it with participants that each have a domain of their
// own on this side, and one on the wire: everything goes through sockets.
func TestConformanceWire(t *testing.T) {
	ddstest.Run(t, func(testing.TB) ddstest.Open {
		xml := loopback(newTag(), wireDomain)
		return func(t testing.TB, userData []byte) dds.Participant {
			return open(t, Config{Domain: newDomain(), XML: xml, UserData: userData})
		}
	})
}
