package loss

import (
	"strings"
	"testing"
)

func TestString(t *testing.T) {
	for want, l := range map[string]Loss{
		"nothing lost": {},
		"no complete message lost; cut off before its end": {Truncated: true},
		"lost 1 message, 2 damaged ranges, 1 byte":         {Messages: 1, Chunks: 2, Bytes: 1},
		"lost 3 messages, 9 bytes; cut off before its end": {Messages: 3, Bytes: 9, Truncated: true},
		"lost 1 damaged range":                             {Chunks: 1},
	} {
		t.Run(want, func(t *testing.T) {
			if got := l.String(); got != want || l.Any() == (want == "nothing lost") {
				t.Errorf("%+v is %q", l, got)
			}
		})
	}
}

// TestAdd: losses add up, and notes stay bounded.
func TestAdd(t *testing.T) {
	var sum Loss
	for i := range 30 {
		one := Loss{Messages: 2, Bytes: 3, Truncated: i == 7}
		one.Note("byte %d", i)
		sum.Add(one, "a.mcap: ")
	}
	if sum.Messages != 60 || sum.Bytes != 90 || !sum.Truncated || len(sum.Notes) != maxNotes ||
		sum.Notes[3] != "a.mcap: byte 3" {
		t.Errorf("%+v", sum)
	}
	if strings.Contains(sum.String(), "\n") {
		t.Error("more than one line")
	}
}
