// Package example has tests of each outcome, for TestNodeRows.
package example

import (
	"os"
	"testing"
)

func TestPasses(*testing.T) {}

func TestFails(t *testing.T) { t.Error("as it is to") }

func TestEnds(*testing.T) { os.Exit(3) }

func TestIsSkipped(t *testing.T) { t.Skip("not here") }
