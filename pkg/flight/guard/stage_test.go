package guard

import "testing"

// TestStagePredicates holds each predicate for every stage, and one for numbers that name none.
func TestStagePredicates(t *testing.T) {
	const unknown = Stage(len(stages))
	for _, c := range []struct {
		stage                                   Stage
		name                                    string
		offboard, policyFlies, authority, flown bool
	}{
		{Policy, "policy", true, true, false, true},
		{Limited, "limited", true, true, false, true},
		{Hold, "hold", true, false, true, true},
		{Land, "land", true, false, true, true},
		{Blind, "blind", true, false, true, false},
		{Off, "off", true, false, true, false},
		{NotOffboard, "not offboard", false, false, false, false},
		{unknown, "unknown", false, false, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := c.stage
			if s.String() != c.name || s.Offboard() != c.offboard || s.PolicyFlies() != c.policyFlies ||
				s.HoldsAuthority() != c.authority || s.Flown() != c.flown {
				t.Errorf("%v: offboard %v, policy flies %v, holds authority %v, flown %v", s, s.Offboard(),
					s.PolicyFlies(), s.HoldsAuthority(), s.Flown())
			}
		})
	}
	if unknown != NotOffboard+1 {
		t.Errorf("the table lacks one of %d stages", unknown)
	}
}
