package gate

import (
	"fmt"
	"slices"

	"vnd/pkg/vnd/bundle"
)

// static looks at a candidate without flying it. What it unpacked serves the stages that follow.
func (g *Gate) static(candidate, current *bundle.Bundle, bank int) (Stage, *Loaded) {
	s := Stage{Name: StageStatic}
	refuse := func(format string, args ...any) { s.Reasons = append(s.Reasons, fmt.Sprintf(format, args...)) }
	b := *candidate
	if _, err := b.Encode(); err != nil { // not finite, malformed, too large
		refuse("%v", err)
		return s, nil
	}
	if candidate.ID != "" && candidate.ID != b.ID {
		refuse("the bundle calls itself %s and is %s", candidate.ID, b.ID)
	}
	if kind := g.Vehicle.Kind(); b.Robot != kind {
		refuse("the bundle is of robot %q, the vehicle is %q", b.Robot, kind)
	}
	if current != nil && b.Dt != current.Dt {
		refuse("Δt is %g s, the current bundle's %g s", b.Dt, current.Dt)
	}
	p, err := g.Vehicle.Load(&b)
	if err != nil {
		refuse("%v", err)
		return s, nil
	}
	s.Reasons = slices.Concat(s.Reasons, mismatches(p, &b), p.Refused, badScales(p))
	if Z := b.Dimensions[latentName]; bank > 0 && (Z == 0 || bank%Z != 0) {
		refuse("the buffer's latents are %d numbers, not of latents of %d", bank, Z)
	}
	s.Pass = len(s.Reasons) == 0
	return s, p
}

// latentName is the dimension of the latent.
const latentName = "latent"

// mismatches says where policy, model and dimensions are not of one piece.
func mismatches(p *Loaded, b *bundle.Bundle) (out []string) {
	if p.Model == nil {
		if p.Actor.UsesLatent() {
			out = append(out, fmt.Sprintf("the policy sees a latent of %d, and there is no model to make it",
				p.Actor.Latent))
		}
		for _, name := range []string{latentName, "context"} {
			if n, ok := b.Dimensions[name]; ok {
				out = append(out, fmt.Sprintf("dimension %q is %d, and there is no model", name, n))
			}
		}
		return out
	}
	want := map[string]int{latentName: p.Model.Net.Latent, "context": p.Model.Net.Context}
	for _, name := range []string{latentName, "context"} {
		if got := b.Dimensions[name]; got != want[name] {
			out = append(out, fmt.Sprintf("dimension %q is %d, the model's is %d", name, got, want[name]))
		}
	}
	return out
}

// badScales names the normalisers that no training writes: a scale is one over a standard deviation or a unit, or 0
// where a channel is off.
func badScales(p *Loaded) (out []string) {
	look := func(name string, scale []float32) {
		if i := slices.IndexFunc(scale, func(x float32) bool { return x < 0 }); i >= 0 {
			out = append(out, fmt.Sprintf("normaliser of the %s: scale %d is %g, expected at least 0", name, i,
				scale[i]))
		}
	}
	look("observation", p.Actor.Norm.Scale)
	if m := p.Model; m != nil {
		look("context", m.Context.Scale)
		look("inputs", m.Inputs.Scale)
		look("output", m.Output)
	}
	return out
}
