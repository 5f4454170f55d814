package link

import (
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"

	"vnd/pkg/bridge/betaflight/msp"
)

// telling is the port of a board that gives these answers to MSP commands, and refuses others.
func telling(t *testing.T, answers map[uint16][]byte) Port {
	t.Helper()
	here, there := net.Pipe()
	go func() {
		defer there.Close()
		var d msp.Decoder
		var out []byte
		for part := make([]byte, 256); ; {
			n, err := there.Read(part)
			if err != nil {
				return
			}
			d.Feed(part[:n], func(f *msp.Frame) {
				answer := msp.Frame{Direction: msp.Refused, Command: f.Command}
				if p, ok := answers[f.Command]; ok {
					answer.Direction, answer.Payload = msp.Reply, p
				}
				out, err = answer.Append(out[:0])
			})
			if _, e := there.Write(out); err != nil || e != nil {
				return
			}
		}
	}()
	return here
}

// ended is a port that the other end has closed, in one of the ways in which that shows.
type ended struct {
	Port
	write, read error
}

func (e ended) Write(p []byte) (int, error) { return len(p), e.write }
func (e ended) Read([]byte) (int, error)    { return 0, e.read }
func (e ended) Close() error                { return nil }

// A board that is none of ours is refused in one line, which says what it is.
func TestConfigureRefusesOtherBoards(t *testing.T) {
	version := func(minor byte) []byte { return []byte{0, 1, minor} }
	for _, c := range []struct {
		name    string
		answers map[uint16][]byte
		want    string
	}{
		{"another firmware", map[uint16][]byte{msp.FCVariant: []byte("INAV")},
			`the board's firmware is "INAV", expected BTFL, Betaflight`},
		{"an old version", map[uint16][]byte{msp.FCVariant: []byte("BTFL"), msp.APIVersion: version(42)},
			"the board has MSP API 1.42, expected at least 1.43, of Betaflight 4.2"},
		{"no rates profile", map[uint16][]byte{msp.FCVariant: []byte("BTFL"), msp.APIVersion: version(43)},
			"the board refuses MSP command 111"},
		{"no board", map[uint16][]byte{}, "the board refuses MSP command 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := NewBoard(telling(t, c.answers))
			defer b.Close()
			if _, err := b.Configure(10); fmt.Sprint(err) != c.want {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

// A line that another program has is closed at once, which shows at random in three ways: that is one line, said once.
func TestConfigureOfALineThatIsTaken(t *testing.T) {
	for name, e := range map[string]ended{"end": {read: io.EOF}, "reset": {read: syscall.ECONNRESET},
		"broken pipe": {write: syscall.EPIPE, read: io.EOF}} {
		t.Run(name, func(t *testing.T) {
			b := NewBoard(e)
			defer b.Close()
			want := "the line is closed at once: is another program connected to it?"
			if _, err := b.Configure(10); fmt.Sprint(err) != want {
				t.Errorf("%v, want %s", err, want)
			}
		})
	}
}
