package learned

import (
	"slices"

	"vnd/pkg/quad"
)

// Latents encodes the windows that end at every stride-th row of the segments, as [N][Z].
func Latents(m *Model[float32], q Quadrotor, segments [][]quad.Step, stride int) []float32 {
	Z, T, A := m.Net.Latent, m.Net.Context, m.dims().Action
	if Z == 0 {
		return nil
	}
	windows, tape := m.NewWindows(1), m.Net.NewEncoderTape(1)
	windows.Reset(1)
	var all []float32
	for _, s := range segments {
		for k := T; k < len(s); k += stride {
			measured, actions := q.Flatten(s[k-T : k+1])
			windows.Set(0, measured, actions[:T*A])
			all = slices.Grow(all, Z)[:len(all)+Z]
			m.Net.Encode(tape, 1, windows.Features, all[len(all)-Z:])
		}
	}
	return all
}
