package overdds

import (
	"fmt"
	"net"
	"slices"
)

// Interface is a network interface that is up.
type Interface struct {
	Name                string
	Addresses           []string // such as "127.0.0.1"
	Multicast, Loopback bool
}

// Interfaces lists this machine's.
func Interfaces() ([]Interface, error) {
	all, err := net.Interfaces()
	if err != nil {
		return nil, fmt.Errorf("listing network interfaces: %w", err)
	}
	var up []Interface
	for _, i := range all {
		if i.Flags&net.FlagUp == 0 {
			continue
		}
		addresses, err := i.Addrs()
		if err != nil {
			return nil, fmt.Errorf("addresses of network interface %s: %w", i.Name, err)
		}
		x := Interface{Name: i.Name, Multicast: i.Flags&net.FlagMulticast != 0, Loopback: i.Flags&net.FlagLoopback != 0}
		for _, a := range addresses {
			if ip, _, err := net.ParseCIDR(a.String()); err == nil {
				x.Addresses = append(x.Addresses, ip.String())
			}
		}
		up = append(up, x)
	}
	return up, nil
}

// settings are the parts of the user's configuration that decide about multicast.
type settings struct {
	interfaces     []string // names and addresses
	allowMulticast string   // the last value
	forced         bool     // some interface has multicast="true"
}

// multicast says whether Cyclone would use multicast, as far as can be seen. One of
// the interfaces that the user names has it, or else any but a loopback. An interface
// that is not known is left to Cyclone.
func (s *settings) multicast(d discovery, machine []Interface) bool {
	allow, chosen := s.allowMulticast, s.interfaces
	if allow == "" && d.rangeOf == discoveryLocalhost {
		allow = "false"
	}
	if d.localhostOnly {
		chosen = append([]string{"127.0.0.1"}, chosen...)
	}
	switch {
	case allow == "false":
		return false
	case s.forced:
		return true
	case len(chosen) == 0:
		return slices.ContainsFunc(machine, func(i Interface) bool {
			return i.Multicast && !i.Loopback && len(i.Addresses) > 0
		})
	}
	return slices.ContainsFunc(chosen, func(name string) bool {
		n := slices.IndexFunc(machine, func(i Interface) bool {
			return i.Name == name || slices.Contains(i.Addresses, name)
		})
		return n < 0 || machine[n].Multicast
	})
}
