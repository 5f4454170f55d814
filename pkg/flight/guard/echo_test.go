package guard

import (
	"math/rand/v2"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// repeats is a source that sends some of its last n states over and over, from a time on: two that alternate, say.
type repeats struct {
	since float64 // s
	n     int
	part  func(s, old *quad.State) // of the state that is old
	past  []quad.State
	k     int
}

func (r *repeats) spoil(at float64, s *quad.State) {
	if at < r.since {
		r.past = append(r.past, *s)
		return
	}
	r.part(s, &r.past[len(r.past)-r.n+r.k%r.n])
	r.k++
}

// A source that sends old states over and over, or old heights or attitudes alone, is as good as frozen. The law would
// push against what it shows: down in a landing, until the robot meets the floor.
func TestSourceThatRepeatsItsPast(t *testing.T) {
	for name, part := range map[string]func(s, old *quad.State){
		"height":                func(s, old *quad.State) { s.P.Z, s.V.Z = old.P.Z, 0 },
		"height, not the speed": func(s, old *quad.State) { s.P.Z = old.P.Z },
		"attitude":              func(s, old *quad.State) { s.Q = old.Q },
		"the whole state":       func(s, old *quad.State) { *s = *old },
	} {
		for _, n := range []int{2, 3, 40} {
			for k, path := range []Path{still{quad.Reference{P: so3.Vec3{Z: 1.3}}}, eight{}} {
				source := repeats{since: 6.5 + 0.3*float64(n%3), n: n, part: part}
				landFromRepeats(t, name, path, k == 0, &source)
			}
		}
	}
}

// landFromRepeats flies along a path, lands at 6 s where that is asked for, and expects a source to be found.
func landFromRepeats(t *testing.T, name string, path Path, lands bool, source *repeats) {
	t.Helper()
	random, g := rand.New(rand.NewPCG(1, 2)), newGuard(t)
	off, speed := cut(t, g, path, 19, func(at float64, in *Input) {
		if lands && at == 6 {
			g.Land()
		}
		e := so3.Vec3{X: random.NormFloat64(), Y: random.NormFloat64(), Z: random.NormFloat64()}
		in.State.P, in.State.Q = in.State.P.Add(e.Scale(3e-4)), in.State.Q.Mul(so3.Exp(e.Scale(1e-3)))
		source.spoil(at, &in.State)
	})
	if n := g.Count(Frozen); off > 0.03 || speed > 1 || n == 0 {
		t.Errorf("%s, one of %d, a landing %v: found %d times, off at %.2f m, the floor at %.2f m/s", name, source.n,
			lands, n, off, speed)
	}
}

// What comes again of a sound source is no echo: a few times, by chance; of a coarse one; of one that was not seen to
// have noise; of one that goes slowly back along its way.
func TestEchoes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	noisy := func(int) float64 { return 1e-4 * random.NormFloat64() }
	coarse := func(k int) float64 { return 1e-3 * float64(k) }
	slow := func(k int) float64 { return 1e-7 * float64(k) }
	const usual = 2 * echoRepeats
	for name, c := range map[string]struct {
		past         func(k int) float64
		proof, among int // samples before, and how many of them come again
		times        int
		want         bool
	}{
		"two alternate":    {noisy, livelyProof, 2, usual, true},
		"so do forty":      {noisy, livelyProof, 40, usual, true},
		"by chance":        {noisy, livelyProof, 2, echoRepeats - 1, false},
		"seen too briefly": {noisy, livelyProof - 1, 2, usual, false},
		"coarse":           {coarse, livelyProof, 2, usual, false},
		"slow":             {slow, livelyProof, 40, usual, false},
	} {
		var e echo
		var past []float64
		for k := range c.proof + c.times {
			if k < c.proof {
				past = append(past, c.past(k))
			} else { // backwards
				past = append(past, past[c.proof-1-(k-c.proof+1)%c.among])
			}
			e.add(past[k], 0.02*float64(k))
		}
		if got := e.frozen(0.02 * float64(c.proof+c.times)); got != c.want {
			t.Errorf("%s: frozen %v", name, got)
		}
	}
}
