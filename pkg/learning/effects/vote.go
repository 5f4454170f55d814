package effects

import (
	"cmp"
	"slices"
)

// Split returns latents [N][Z] one by one.
func Split(latents []float32, Z int) (all [][]float64) {
	for i := 0; i < len(latents); i += Z {
		z := make([]float64, Z)
		for j := range z {
			z[j] = float64(latents[i+j])
		}
		all = append(all, z)
	}
	return all
}

// Vote labels unseen latents, [label][latent][Z], by most of their nearest known ones. It returns the share that is
// labelled right, and how many there are. Where none is known, none is labelled right.
func Vote(known, unseen [][][]float64, neighbours int) (share float64, latents int) {
	type neighbour struct {
		d  float64
		at int
	}
	right := 0
	for label, group := range unseen {
		for _, z := range group {
			var all []neighbour
			for at, others := range known {
				for _, o := range others {
					all = append(all, neighbour{distance(z, o), at})
				}
			}
			slices.SortFunc(all, func(a, b neighbour) int { return cmp.Compare(a.d, b.d) })
			votes := make([]int, len(known))
			for _, n := range all[:min(neighbours, len(all))] {
				votes[n.at]++
			}
			if len(all) > 0 && slices.Index(votes, slices.Max(votes)) == label {
				right++
			}
			latents++
		}
	}
	return float64(right) / float64(max(1, latents)), latents
}

func distance(a, b []float64) (d float64) {
	for i := range a {
		d += (a[i] - b[i]) * (a[i] - b[i])
	}
	return d
}
