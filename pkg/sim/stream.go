package sim

import "math/rand/v2"

// stream is the random numbers of one disturbance, independent of those of all others under the same seed.
type stream struct {
	source rand.PCG
	*rand.Rand
}

// seed starts the stream anew.
func (s *stream) seed(seed uint64, name string) {
	if s.Rand == nil {
		s.Rand = rand.New(&s.source)
	}
	id := uint64(14695981039346656037) // FNV-1a
	for i := range len(name) {
		id = (id ^ uint64(name[i])) * 1099511628211
	}
	// PCG takes its state as it comes: seeds that differ little are mixed first.
	s.source.Seed(mixed(seed^mixed(id)), mixed(id+mixed(seed)))
}

// mixed is the finaliser of SplitMix64.
func mixed(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
