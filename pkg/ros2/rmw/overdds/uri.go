package overdds

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// readURI reads a list as in CYCLONEDDS_URI, the way Cyclone does. A part that begins
// with < is XML; any other, up to a comma, is a file's name or URL.
func readURI(uri string) (*settings, error) {
	s := &settings{}
	for part := 1; ; part++ {
		uri = strings.TrimLeft(uri, ", \t\r\n\v\f")
		if uri == "" {
			return s, nil
		}
		if uri[0] == '<' {
			n, err := s.readFragment(uri)
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
	text, err := os.ReadFile(name)
	if path, isURL := strings.CutPrefix(name, "file://"); err != nil && isURL {
		text, err = os.ReadFile(path)
	}
	if err != nil {
		return err // names the file
	}
	p := parser{settings: s, xml: xml.NewDecoder(strings.NewReader(string(text)))}
	// Cyclone takes every encoding for UTF-8.
	p.xml.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	for elements := 0; ; elements++ {
		err := p.element()
		if err == io.EOF && elements > 0 {
			return nil
		}
		if err == io.EOF {
			err = errors.New("no XML element")
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
}

// readFragment reads the element that text begins with and returns its length.
// Outside files, Cyclone lets </> close any element, and the end of text all of them.
func (s *settings) readFragment(text string) (int, error) {
	const anonymous = "</_>" // one byte longer, but XML
	named := strings.ReplaceAll(text, "</>", anonymous)
	p := parser{settings: s, xml: xml.NewDecoder(strings.NewReader(named)), fragment: true}
	if err := p.element(); err == io.EOF {
		return len(text), nil
	} else if err != nil {
		return 0, err
	}
	read := named[:p.xml.InputOffset()]
	return len(read) - strings.Count(read, anonymous), nil
}

// parser reads settings out of a configuration.
type parser struct {
	*settings
	xml      *xml.Decoder
	fragment bool
	path     []string
}

// element reads one element. It returns io.EOF when there is none, or when the end of
// text closes a fragment.
func (p *parser) element() error {
	for {
		token, err := p.xml.RawToken()
		if err == io.EOF && len(p.path) > 0 && !p.fragment {
			return p.fault("element <%s> is not closed", p.path[len(p.path)-1])
		}
		if err != nil {
			return err // names the line, or is io.EOF
		}
		switch t := token.(type) {
		case xml.StartElement:
			p.path = append(p.path, t.Name.Local)
			p.attributes(t)
		case xml.CharData:
			p.text(strings.TrimSpace(string(t)))
		case xml.EndElement:
			n := len(p.path) - 1
			if n < 0 || p.path[n] != t.Name.Local && !(p.fragment && t.Name.Local == "_") {
				return p.fault("</%s> closes another element", t.Name.Local)
			}
			if p.path = p.path[:n]; n == 0 {
				return nil
			}
		}
	}
}

func (p *parser) fault(format string, args ...any) error {
	line, _ := p.xml.InputPos()
	return fmt.Errorf("XML, line %d: %s", line, fmt.Sprintf(format, args...))
}

// attributes reads those of NetworkInterface. As in Cyclone, the case of names does not
// matter.
func (p *parser) attributes(e xml.StartElement) {
	if !strings.EqualFold(e.Name.Local, "NetworkInterface") {
		return
	}
	for _, a := range e.Attr {
		switch strings.ToLower(a.Name.Local) {
		case "name", "address":
			p.interfaces = append(p.interfaces, a.Value)
		case "multicast":
			p.forced = p.forced || a.Value == "true"
		}
	}
}

func (p *parser) text(text string) {
	if len(p.path) == 0 || text == "" {
		return
	}
	switch strings.ToLower(p.path[len(p.path)-1]) {
	case "allowmulticast":
		p.allowMulticast = text
	case "networkinterfaceaddress": // before 0.10
		if text != "auto" {
			p.interfaces = append(p.interfaces, strings.Split(text, ",")...)
		}
	}
}
