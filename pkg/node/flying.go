package node

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"vnd/pkg/flight/guard"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/params"
)

// Flying knows from the topic step whether a vehicle flies by commands now.
type Flying struct {
	last atomic.Int64 // when a step of such a flight came last, ns since begun
}

// begun is when the process began.
var begun = time.Now()

// flightEnds is the time without such a step after which a flight has ended.
const flightEnds = time.Second

// Step notes the guard's stage of a step.
func (f *Flying) Step(s guard.Stage) {
	if s != guard.NotOffboard && s != guard.Off {
		f.last.Store(int64(time.Since(begun)))
	}
}

// Now reports whether commands are followed, in the air.
func (f *Flying) Now() bool {
	at := f.last.Load()
	return at != 0 && int64(time.Since(begun))-at < int64(flightEnds)
}

// InFlight is a reason for FixWhile, "" while nothing flies.
func (f *Flying) InFlight() string {
	if f.Now() {
		return "commands are followed and the robot flies; land first"
	}
	return ""
}

// FixWhile refuses changes of parameters while holds returns a reason, "" for none. A name that ends in a dot stands
// for all that begin with it.
func FixWhile(n *ros.Node, holds func() string, names ...string) {
	n.Parameters().BeforeSet(func(batch []params.Parameter) error {
		for _, p := range batch {
			fixed := slices.ContainsFunc(names, func(name string) bool {
				return p.Name == name || strings.HasSuffix(name, ".") && strings.HasPrefix(p.Name, name)
			})
			if !fixed {
				continue
			}
			if before, err := n.Parameters().Get(p.Name); err == nil && reflect.DeepEqual(before, p.Value) {
				continue
			}
			if why := holds(); why != "" {
				return fmt.Errorf("parameter %s is fixed: %s", p.Name, why)
			}
		}
		return nil
	})
}
