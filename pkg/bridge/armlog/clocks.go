package armlog

import "slices"

const (
	pieceRows = 12   // rows of a piece
	drift     = 0.25 // of Delta, by which times of recording may be off
)

// clocks are how the times of recording of a stretch follow its stamps, in pieces.
type clocks struct {
	first, length int64 // stamp of the first sample, and a piece's length, ns
	pieces        []piece
}

// piece is how much later than their stamps most samples were recorded, ns, and whether torques can be told by that:
// samples around it were, and pieces beside it agree.
type piece struct {
	behind int64
	steady bool
}

// compare compares stamps with times of recording. The samples are without a gap.
func compare(samples []sample, delta float64) *clocks {
	first, last := samples[0].stamp, samples[len(samples)-1].stamp
	c := &clocks{first: first, length: int64(pieceRows * delta * 1e9)}
	c.pieces = make([]piece, max(1, (last-first)/c.length))
	late, most := make([][]int64, len(c.pieces)), int64(drift*delta*1e9)
	for _, s := range samples {
		k := c.piece(s.stamp)
		late[k] = append(late[k], s.recorded-s.stamp)
	}
	for k, all := range late {
		c.pieces[k].behind = median(all)
		for i := range all {
			all[i] = abs(all[i] - c.pieces[k].behind)
		}
		c.pieces[k].steady = median(all) <= most
	}
	for k := range len(c.pieces) - 1 {
		if a, b := &c.pieces[k], &c.pieces[k+1]; abs(a.behind-b.behind) > most {
			a.steady, b.steady = false, false
		}
	}
	return c
}

// piece is that of a stamp. What remains of the stretch belongs to the last one.
func (c *clocks) piece(stamp int64) int { return min(int((stamp-c.first)/c.length), len(c.pieces)-1) }

// recorded is when something of a stamp was recorded, if that can be told.
func (c *clocks) recorded(stamp int64) (at int64, ok bool) {
	p := &c.pieces[c.piece(stamp)]
	return stamp + p.behind, p.steady
}

// median sorts all and returns the middle one.
func median(all []int64) int64 {
	slices.Sort(all)
	return all[len(all)/2]
}

func abs(x int64) int64 { return max(x, -x) }
