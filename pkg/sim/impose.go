package sim

import (
	"fmt"
	"math"
	"slices"
)

// Impose puts one of the world's conditions into force from now on. The schedule has no say until the next Reset.
func (s *Simulator) Impose(condition string) error {
	names := s.world.Names()
	i := slices.Index(names, condition)
	if i < 0 {
		return fmt.Errorf("no condition %.40q in this world, expected one of %q", condition, names)
	}
	s.schedule.nextAt = math.Inf(1)
	s.enter(i)
	return nil
}
