package overdds

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
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

// settings are what of the user's configuration decides about multicast.
type settings struct {
	interfaces     []string // names and addresses
	allowMulticast string   // the last that was set
	assumed        bool     // some interface is said to have it
}

// multicast says whether Cyclone would use it, as far as can be seen: where the
// user names interfaces, one of them has it; else any but a loopback. What is
// not known is left to Cyclone.
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
	case s.assumed:
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

// readURI reads a list such as CYCLONEDDS_URI has, the way Cyclone does: what
// begins with < is XML, and anything else up to a comma a file's name or URL.
func readURI(uri string) (*settings, error) {
	s := &settings{}
	for part := 1; ; part++ {
		uri = strings.TrimLeft(uri, ", \t\r\n\v\f")
		if uri == "" {
			return s, nil
		}
		if uri[0] == '<' {
			n, err := s.readXML(strings.NewReader(uri), false)
			if err != nil {
				return nil, fmt.Errorf("part %d: %w", part, err)
			}
			uri = uri[n:]
			continue
		}
		var name string
		name, uri, _ = strings.Cut(uri, ",")
		if err := s.readFile(name); err != nil {
			return nil, err
		}
	}
}

// readFile reads a file of the configuration; its name may be a URL.
func (s *settings) readFile(name string) error {
	f, err := os.Open(name)
	if path, isURL := strings.CutPrefix(name, "file://"); err != nil && isURL {
		f, err = os.Open(path)
	}
	if err != nil {
		return err // names the file
	}
	defer f.Close()
	if _, err := s.readXML(f, true); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// readXML reads one element, or all that there are, and returns how many bytes
// it took.
func (s *settings) readXML(r io.Reader, all bool) (int64, error) {
	d := xml.NewDecoder(r)
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // as Cyclone has it
	var path []string
	elements := 0
	for {
		token, err := d.Token()
		if err == io.EOF && len(path) == 0 && elements > 0 {
			return d.InputOffset(), nil
		}
		if err == io.EOF {
			err = errors.New("no XML element")
		}
		if err != nil {
			return 0, err
		}
		switch t := token.(type) {
		case xml.StartElement:
			path = append(path, t.Name.Local)
			s.element(t)
		case xml.CharData:
			s.text(path, strings.TrimSpace(string(t)))
		case xml.EndElement:
			path = path[:len(path)-1]
			elements++
			if len(path) == 0 && !all {
				return d.InputOffset(), nil
			}
		}
	}
}

func (s *settings) element(e xml.StartElement) {
	if !strings.EqualFold(e.Name.Local, "NetworkInterface") {
		return
	}
	for _, a := range e.Attr {
		switch strings.ToLower(a.Name.Local) {
		case "name", "address":
			s.interfaces = append(s.interfaces, a.Value)
		case "multicast":
			s.assumed = s.assumed || a.Value == "true"
		}
	}
}

func (s *settings) text(path []string, text string) {
	if len(path) == 0 || text == "" {
		return
	}
	switch strings.ToLower(path[len(path)-1]) {
	case "allowmulticast":
		s.allowMulticast = text
	case "networkinterfaceaddress": // before 0.10
		if text != "auto" {
			s.interfaces = append(s.interfaces, strings.Split(text, ",")...)
		}
	}
}
