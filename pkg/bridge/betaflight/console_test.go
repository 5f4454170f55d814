package betaflight

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"
)

// board answers a console as the firmware does: it echoes, and a prompt ends what it says.
func board(t *testing.T, answers map[string]string) *Console {
	t.Helper()
	c, err := OpenConsole(answering(t, answers))
	if err != nil {
		t.Fatal(err)
	}
	c.Patience = time.Second
	return c
}

// answering is the port of such a board, of Betaflight's firmware unless the answers say otherwise.
func answering(t *testing.T, answers map[string]string) net.Conn {
	here, there := net.Pipe()
	if answers["version"] == "" {
		answers["version"] = "# Betaflight / SITL (SITL) 4.6.0 Nov 24 2026 / 15:00:00 (norevision) MSP API: 1.47\r\n"
	}
	go func() {
		defer there.Close()
		buffer := make([]byte, 1024)
		for {
			n, err := there.Read(buffer)
			if err != nil {
				return
			}
			line := strings.TrimSuffix(string(buffer[:n]), "\n")
			if _, err := there.Write([]byte(line + "\r\n" + answers[line] + "\r\n# ")); err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { here.Close() })
	return here
}

func TestConsoleOfAnotherFirmware(t *testing.T) {
	_, err := OpenConsole(answering(t, map[string]string{"version": "# INAV/MATEKF405 7.1.2\r\n",
		"exit": "\r\nRebooting"}))
	if want := `the board's firmware is "# INAV/MATEKF405 7.1.2", expected Betaflight`; fmt.Sprint(err) != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestConsoleReadsSettings(t *testing.T) {
	c := board(t, map[string]string{
		"get deadband": "deadband = 5\r\nAllowed range: 0 - 32\r\n\r\nyaw_deadband = 7\r\nAllowed range: 0 - 100\r\n",
		"get nothing":  "###ERROR IN get: INVALID NAME: nothing###",
		"aux":          "aux 0 0 0 1700 2100 0 0\r\naux 1 0 0 900 900 0 0\r\n",
		"map":          "map AETR1234\r\n",
	})
	for _, x := range []struct{ name, want string }{
		{"deadband", "5"}, {"aux 1", "0 0 900 900 0 0"}, {"map", "AETR1234"},
	} {
		if got, err := c.Get(x.name); got != x.want || err != nil {
			t.Errorf("%s is %q, %v, want %q", x.name, got, err, x.want)
		}
	}
	if _, err := c.Get("nothing"); err == nil || !strings.Contains(err.Error(), "INVALID NAME") {
		t.Errorf("setting nothing: %v", err)
	}
}

func TestConsoleComparesAndReadsBackWhatItWrote(t *testing.T) {
	c := board(t, map[string]string{
		"get deadband": "deadband = 5\r\n", "get yaw_deadband": "yaw_deadband = 0\r\n",
		"set deadband = 0": "deadband set to 0\r\n",
	})
	changes, err := c.Compare([]Setting{{"deadband", "0", "reason"}, {"yaw_deadband", "0", "reason"}})
	if err != nil || len(changes) != 1 || changes[0].String() != "deadband: 5 → 0 (reason)" {
		t.Fatalf("%v, %v", changes, err)
	}
	err = c.Apply(changes) // but this board keeps 5
	if err == nil || err.Error() != "setting deadband is 5 after 0 was written" {
		t.Errorf("%v", err)
	}
}

func TestConsoleOfABoardThatDoesNotAnswer(t *testing.T) {
	here, there := net.Pipe()
	there.Close()
	if _, err := OpenConsole(here); err == nil {
		t.Error("opened")
	}
}

// TestConsoleWaitsUntilTheBoardStartsAnew: Betaflight behind TCP stands still where the connection ends before.
func TestConsoleWaitsUntilTheBoardStartsAnew(t *testing.T) {
	for _, c := range []struct {
		name, answer string
		end          func(*Console) error
	}{
		{"save", "saving\r\nRebooting", (*Console).Save},
		{"exit", "leaving CLI mode\r\n\r\nRebooting", (*Console).Leave},
		{"a port that ends", "", (*Console).Leave},
	} {
		t.Run(c.name, func(t *testing.T) {
			here, there := net.Pipe()
			said := make(chan error, 1)
			go func() {
				_, err := there.Read(make([]byte, 1024))
				if err == nil && c.answer != "" {
					_, err = there.Write([]byte(c.answer))
				} else {
					there.Close()
				}
				said <- err
			}()
			if err := c.end(&Console{port: here, Patience: 10 * time.Second}); err != nil {
				t.Error(err)
			}
			here.Close()
			if err := <-said; err != nil {
				t.Errorf("the board's answer is not read: %v", err)
			}
			there.Close()
		})
	}
}
