package cyclone

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// checkConfig reads a configuration as Cyclone DDS does. Its error names source, line
// and column of malformed XML: Cyclone DDS itself writes it to the standard error.
func checkConfig(uri string) error {
	for rest := separated(uri); rest != ""; rest = separated(rest) {
		if strings.HasPrefix(rest, "<") {
			n, err := checkFragment(rest)
			if err != nil {
				return fmt.Errorf("configuration of Cyclone DDS: %w", err)
			}
			rest = rest[n:]
			continue
		}
		name, after, _ := strings.Cut(rest, ",")
		if err := checkFile(name); err != nil {
			return err
		}
		rest = after
	}
	return nil
}

// separated skips the separators between sources.
func separated(uri string) string { return strings.TrimLeft(uri, ", \t\r\n") }

func checkFile(name string) error {
	text, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) && strings.HasPrefix(name, "file://") {
		text, err = os.ReadFile(strings.TrimPrefix(name, "file://"))
	}
	if err != nil {
		return fmt.Errorf("configuration of Cyclone DDS: %w", err)
	}
	d := decoder(string(text))
	seen := false
	for {
		token, err := d.Token()
		if err == io.EOF && seen {
			return nil
		}
		if err == io.EOF {
			err = errors.New("no XML element")
		}
		if err != nil {
			return fmt.Errorf("configuration of Cyclone DDS: %s:%w", name, at(d, err))
		}
		if _, is := token.(xml.StartElement); is {
			seen = true
		}
	}
}

// decoder does not convert character sets: names are ASCII in all of them.
func decoder(text string) *xml.Decoder {
	d := xml.NewDecoder(strings.NewReader(text))
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	return d
}

// at puts line and column before an error.
func at(d *xml.Decoder, err error) error {
	line, column := d.InputPos()
	what := err.Error()
	if syntax, ok := errors.AsType[*xml.SyntaxError](err); ok {
		what = syntax.Msg
	}
	return fmt.Errorf("%d:%d: %s", line, column, what)
}

// checkFragment checks the first element of text and returns its length. In a fragment
// Cyclone DDS accepts </> as any end tag, and the end of text as all of them.
func checkFragment(text string) (int, error) {
	const anonymous = "</_>" // XML has no </>; one byte longer
	spelt := strings.ReplaceAll(text, "</>", anonymous)
	d := decoder(spelt)
	var open []string
	for {
		token, err := d.RawToken()
		if err == io.EOF {
			return len(text), nil
		}
		if err != nil {
			return 0, at(d, err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			open = append(open, t.Name.Local)
		case xml.EndElement:
			if n := len(open); n == 0 {
				return 0, at(d, fmt.Errorf("</%s> closes nothing", t.Name.Local))
			} else if name := open[n-1]; name != t.Name.Local && t.Name.Local != "_" {
				return 0, at(d, fmt.Errorf("element <%s> closed by </%s>", name, t.Name.Local))
			}
			if open = open[:len(open)-1]; len(open) == 0 {
				read := spelt[:d.InputOffset()]
				return len(read) - strings.Count(read, anonymous), nil
			}
		}
	}
}
