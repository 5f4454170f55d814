package node

import (
	"bytes"
	"crypto/sha256"
	"fmt"

	"vnd/msgs"
	"vnd/pkg/vnd/bundle"
)

// Unpack reads the bundle in a message, which must be what the message says that it is.
func Unpack(m *msgs.Bundle) (*bundle.Bundle, error) {
	name := fmt.Sprintf("bundle %.40q", m.ID)
	switch sum := sha256.Sum256(m.Data); {
	case len(m.Data) > bundle.MaxSize:
		return nil, fmt.Errorf("%s: %d bytes, expected at most %d", name, len(m.Data), bundle.MaxSize)
	case !bytes.Equal(sum[:], m.Sha256[:]):
		return nil, fmt.Errorf("%s: the SHA-256 of its %d bytes is %x, the message says %x", name, len(m.Data), sum[:4],
			m.Sha256[:4])
	}
	b, err := bundle.Decode(name, m.Data)
	if err != nil {
		return nil, err
	}
	for _, x := range []struct{ field, says, is string }{{"id", m.ID, b.ID}, {"robot", m.Robot, b.Robot},
		{"task", m.Task, b.Task}} {
		if x.says != x.is {
			return nil, fmt.Errorf("%s: its %s is %.40q, the message says %.40q", name, x.field, x.is, x.says)
		}
	}
	return b, nil
}
