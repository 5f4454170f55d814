//go:build !cgo || nocyclone

package cyclone

import (
	"strings"
	"testing"
)

func TestWithout(t *testing.T) {
	p, err := Open(Config{})
	if p != nil || err == nil || !strings.Contains(err.Error(), "built without Cyclone DDS") ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("Open without Cyclone DDS: %v, %v", p, err)
	}
}
