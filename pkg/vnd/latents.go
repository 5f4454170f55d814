package vnd

import (
	"sync"
	"sync/atomic"

	"vnd/pkg/nn/kernel"
)

// Flattener writes recorded rows as measured[N][M] and actions[N][A]: a robot does.
type Flattener[Row any] interface {
	Flatten(rows []Row) (measured, actions []float32)
}

// Latents encodes the windows that end at every stride-th row of the segments, as [N][Z], with all workers.
func Latents[Row any](m *Model[float32], q Flattener[Row], segments [][]Row, stride int) []float32 {
	const most = 64 // windows at a time
	Z, T := m.Net.Latent, m.Net.Context
	if Z == 0 {
		return nil
	}
	var rows [][]Row // of each window
	for _, s := range segments {
		for k := T; k < len(s); k += stride {
			rows = append(rows, s[k-T:k+1])
		}
	}
	all, batch := make([]float32, len(rows)*Z), max(1, min(most, len(rows)))
	var wg sync.WaitGroup
	var next atomic.Int64
	for range min(kernel.Workers(), (len(rows)+batch-1)/batch) {
		wg.Go(func() {
			windows, tape := m.NewWindows(batch), m.Net.NewEncoderTape(batch)
			for lo := int(next.Add(int64(batch))) - batch; lo < len(rows); lo = int(next.Add(int64(batch))) - batch {
				kernel.Pause()
				hi := min(lo+batch, len(rows))
				windows.Reset(hi - lo)
				for b, s := range rows[lo:hi] {
					measured, actions := q.Flatten(s)
					windows.Set(b, measured, actions[:T*m.dims().Action])
				}
				m.Net.Encode(tape, hi-lo, windows.Features, all[lo*Z:hi*Z])
			}
		})
	}
	wg.Wait()
	return all
}
