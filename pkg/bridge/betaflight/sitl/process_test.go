package sitl

import (
	"net/netip"
	"os/exec"
	"testing"
)

// A firmware that has ended leaves its address to the one that is started in its place.
func TestAddressIsFreeOnceTheFirmwareHasEnded(t *testing.T) {
	var at netip.Addr
	for k := range 50 {
		p := &Process{ended: make(chan error, 1)}
		if err := p.listen(at); err != nil {
			t.Fatalf("start %d: %v", k, err)
		}
		at, p.command = p.Address, exec.Command("sleep", "60")
		if err := p.begin(); err != nil {
			t.Fatal(err)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
