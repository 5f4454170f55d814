package manipulation

import (
	"fmt"
	"io"
	"math"
	"slices"

	"vnd/pkg/learning/armlearning"
	"vnd/pkg/learning/effects"
	"vnd/pkg/robot/arm"
	"vnd/pkg/vnd"
)

// swaps are payloads, kg, that take the place of others in mid-flight.
var swaps = [][2]float64{{0, 3}, {3, 0}, {0.6, 2.4}, {2.4, 0.6}, {0, 1.5}, {3, 1.5}}

const (
	swapAt   = 200 // step
	together = 10  // steps whose mean error is compared
	steadily = 1.2 // of the error of a flight that has had the payload all along
)

// Returns are the times, s, from a swap of payloads until the mean error over 0.2 s is within 1.2 times that of a
// flight that has had the new payload all along, there on the reference: for each swap along each reference. Infinite
// is one that never is, or is lost.
func (m *Method) Returns(w World[float32], references []*arm.Reference) (all []float64) {
	for _, r := range references {
		for _, swap := range swaps {
			steady, _ := m.errors(w, r, always(swap[1]))
			swapped, crash := m.errors(w, r, func(k int) float64 { return swap[min(k/swapAt, 1)] })
			if crash != "" {
				swapped = nil
			}
			all = append(all, back(steady, swapped))
		}
	}
	return all
}

// errors are those of each step, m.
func (m *Method) errors(w World[float32], r *arm.Reference, payload func(int) float64) (all []float64,
	crash string) {
	crash = m.follow(w, r, flightSteps, payload, func(_ arm.Row, off float64) { all = append(all, off) })
	return all, crash
}

// back is the time, s, from the swap until errors are those of the steady flight.
func back(steady, swapped []float64) float64 {
	for k := swapAt; k+together <= min(len(steady), len(swapped)); k++ {
		var is, was float64
		for i := k; i < k+together; i++ {
			is, was = is+swapped[i], was+steady[i]
		}
		if is <= steadily*was {
			return float64(k-swapAt) * Dt
		}
	}
	return math.Inf(1)
}

// neighbours that vote on a payload, and rows from one window to the next.
const neighbours, everyRow = 15, 10

// Recognise returns the share of windows of flights of the improved policy whose payload is that of most of the nearest
// latents of the flights that were learned from, and how many windows there are.
func (b *Budget) Recognise(l *Learned, references []*arm.Reference) (share float64, windows int) {
	improved := ByPolicy("improved", l.Improved, l.Model)
	known, unseen := make([][][]float64, len(Masses)), make([][][]float64, len(Masses))
	for i, mass := range Masses {
		for j, r := range references {
			known[i] = append(known[i], latents(l.Model, b.fly(l.Base, nil, mass, r, b.drawn(i, j)))...)
			var rows []arm.Row
			keep := func(row arm.Row, _ float64) { rows = append(rows, row) }
			improved.follow(b.World, r, flightSteps, always(mass), keep)
			unseen[i] = append(unseen[i], latents(l.Model, rows)...)
		}
	}
	return effects.Vote(known, unseen, neighbours)
}

func latents(m *vnd.Model[float32], rows []arm.Row) [][]float64 {
	return effects.Split(vnd.Latents(m, armlearning.Prior, [][]arm.Row{rows}, everyRow), m.Net.Latent)
}

// Report writes how many windows tell the payload, and how soon each method is steady after a swap of payloads.
func (b *Budget) Report(w io.Writer, l *Learned, references []*arm.Reference, all []Method) {
	share, windows := b.Recognise(l, references)
	fmt.Fprintf(w, "the nearest latents tell the payload in %.1f %% of %d windows\n", 100*share, windows)
	for _, m := range all {
		times := m.Returns(b.World, references)
		slices.Sort(times)
		n := len(times)
		fmt.Fprintf(w, "%s is steady after a swap of payloads in %.2f s at the median of %d, %.2f s at the 95th "+
			"percentile\n", m.Name, times[n/2], n, times[95*n/100])
	}
}
