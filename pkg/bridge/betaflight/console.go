package betaflight

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Port is a serial line or a TCP connection to a board.
type Port interface {
	io.ReadWriter
	SetReadDeadline(t time.Time) error
}

// Console is the board's command line. While it is open the board does not arm.
type Console struct {
	port Port
	// Patience is how long an answer may take.
	Patience time.Duration
}

const prompt = "\r\n# "

// OpenConsole enters the command line of a board.
func OpenConsole(p Port) (*Console, error) {
	c := &Console{port: p, Patience: 5 * time.Second}
	if _, err := c.ask("#"); err != nil {
		return nil, fmt.Errorf("the board's command line does not open (%w): is it Betaflight, and no other program "+
			"at its port?", err)
	}
	lines, err := c.Run("version")
	if text := strings.TrimSpace(strings.Join(lines, " ")); err == nil && !strings.Contains(text, "Betaflight") {
		err = fmt.Errorf("the board's firmware is %.60q, expected Betaflight", text)
	}
	if err != nil {
		return nil, errors.Join(err, c.Leave())
	}
	return c, nil
}

// ask sends text and returns what comes before the next prompt.
func (c *Console) ask(text string) (string, error) {
	if err := c.send(text); err != nil {
		return "", err
	}
	answer, err := c.read(func(answer []byte) bool { return bytes.HasSuffix(answer, []byte(prompt)) })
	return strings.TrimSuffix(string(answer), prompt), err
}

// send sends text, whose answer may take from now on; a port may end as soon as it has the text.
func (c *Console) send(text string) error {
	if err := c.port.SetReadDeadline(time.Now().Add(c.Patience)); err != nil {
		return err
	}
	_, err := io.WriteString(c.port, text)
	return err
}

// read reads until an answer is whole.
func (c *Console) read(whole func(answer []byte) bool) (answer []byte, err error) {
	const most = 1 << 20 // more is no answer
	part := make([]byte, 4096)
	for !whole(answer) {
		n, err := c.port.Read(part)
		if answer = append(answer, part[:n]...); err != nil {
			return answer, err
		}
		if len(answer) > most {
			return nil, errors.New("an answer without an end")
		}
	}
	return answer, nil
}

// Run runs a line and returns the answer's lines, without the echo.
func (c *Console) Run(line string) ([]string, error) {
	answer, err := c.ask(line + "\n")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", line, err)
	}
	lines := strings.Split(strings.ReplaceAll(answer, "\r", ""), "\n")
	if len(lines) > 0 && strings.TrimSpace(lines[0]) == line {
		lines = lines[1:]
	}
	for _, l := range lines {
		if strings.HasPrefix(l, "###ERROR") {
			return nil, fmt.Errorf("%s: the board answers %s", line, l)
		}
	}
	return lines, nil
}

// Get reads a setting.
func (c *Console) Get(name string) (string, error) {
	query, lead := "get "+name, name+" = "
	if verb, listed := listing(name); listed {
		query, lead = verb, name+" "
	}
	lines, err := c.Run(query)
	if err != nil {
		return "", err
	}
	for _, l := range lines {
		if value, ok := strings.CutPrefix(l, lead); ok {
			return strings.TrimSpace(value), nil
		}
	}
	return "", fmt.Errorf("the board has no setting %s", name)
}

// Line is that of the command line which writes a setting.
func Line(name, value string) string {
	if _, listed := listing(name); listed {
		return name + " " + value
	}
	return "set " + name + " = " + value
}

// Set writes a setting, reads it back, and refuses another value than was written.
func (c *Console) Set(name, value string) error {
	if _, err := c.Run(Line(name, value)); err != nil {
		return err
	}
	now, err := c.Get(name)
	if err == nil && !strings.EqualFold(now, value) {
		err = fmt.Errorf("setting %s is %s after %s was written", name, now, value)
	}
	return err
}

// listing tells the verb that lists settings that are none of set and get, as "aux 0" and "map".
func listing(name string) (verb string, listed bool) {
	verb, _, _ = strings.Cut(name, " ")
	return verb, verb == "aux" || verb == "map" || verb == "feature"
}

// Save keeps what was set, and starts the board anew: the port ends or is silent for a while.
func (c *Console) Save() error { return c.restart("save") }

// Leave closes the command line without keeping what was set, and starts the board anew.
func (c *Console) Leave() error { return c.restart("exit") }

// restart reads on until the board says that it starts anew, or its port ends: firmware behind TCP that cannot say so
// stands still.
func (c *Console) restart(verb string) error {
	if err := c.send(verb + "\n"); err != nil {
		return err
	}
	// A port of USB ends with the board.
	_, _ = c.read(func(answer []byte) bool { return bytes.Contains(answer, []byte("Rebooting")) })
	return nil
}
