package logging

import "testing"

func TestLevel(t *testing.T) {
	for text, want := range map[string]Level{"debug": 10, "Info": 20, "wArN": 30, "ERROR": 40, "fatal": 50,
		"unset": 0} {
		l, err := ParseLevel(text)
		if err != nil || l != want {
			t.Errorf("%s: %d, %v", text, l, err)
		}
		if again, err := ParseLevel(l.String()); err != nil || again != l {
			t.Errorf("%s: %s, %v", text, l, err)
		}
	}
	for _, text := range []string{"", "warning", "10", "debug "} {
		if l, err := ParseLevel(text); err == nil {
			t.Errorf("%q is %s", text, l)
		}
	}
	if s := Level(15).String(); s != "level 15" {
		t.Error(s)
	}
}
