package rostest

import (
	"bytes"
	"sync"
)

// Console keeps what is written to it, from any goroutine: what a node says. The zero value is empty.
type Console struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (c *Console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.Write(p)
}

// String is what was written.
func (c *Console) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}
