package rotorfit

import (
	"strings"
	"testing"

	"vnd/pkg/robot/rotors"
)

// FuzzRead reads what may be a flight: it is refused on one line, or can be looked at by a fit.
func FuzzRead(f *testing.F) {
	f.Add(turning(nil))
	f.Add(header + ",vbat\n0,0,0,1,1,0,0,0,0,0,0,0,0,0,.5,.5,.5,.5,4\n.01,0,0,1,1,0,0,0,0,0,0,0,0,0,.5,.5,.5,.5,4\n")
	f.Add("\ufeff" + header + "\n\n\"0\",1e300,x\n")
	f.Fuzz(func(t *testing.T, text string) {
		flight, err := Read(strings.NewReader(text), "a")
		if err == nil {
			_, err = Typical([]*rotors.Flight{flight}, 0, 0, 0)
		}
		if err != nil && strings.ContainsAny(err.Error(), "\n\r") {
			t.Errorf("an error of more than one line: %q", err)
		}
	})
}
