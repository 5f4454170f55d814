package guard

import (
	"math"

	"vnd/pkg/core/so3"
)

// A source that begins to drift makes a kink in the path: the position moves at once by a speed that no force gives.
// What a wind, a lag or a gain of the model would make of the same window is told apart from it.
const (
	kinkDeviations = 120.0  // 1/s, of the position's noise, where that is more than the slack
	usualKinks     = 2.7    // times what is usually left of kinks is too great, at least
	leastKink      = 0.5    // of what is too great, in each window
	kinkProof      = 1.8    // of the shorter two together, at once: healthy flights reach 1.6 in twenty hours
	slowProof      = 2.4    // of all three together: healthy flights reach 2.33 in twenty hours
	evenSpacing    = 0.0065 // s by which spacing of a kink's window may differ; else positions are interpolated
	maxStampStep   = 0.008  // s by which a source may shift its stamps at once
	longestKink    = 41     // exhibits
	swingLift      = 0.01   // m/s for each rad²/s²: rotors that turn a robot quickly lift it, too
	swingSinks     = 0.25   // of that, where they are at their limits and lift it less
)

// kinkTest looks for a kink amid a window. A short one finds it soon; in a longer one, noise and a shaking robot hide
// less.
type kinkTest struct {
	half   int     // exhibits on either side of the kink
	slack  float64 // m/s
	share  float64 // m/s for each m/s² by which a steady force changed there
	lag    float64 // s by which the model may lag beside what is learned
	gain   float64 // by which its gain may err beside what is learned
	speeds filter
	forces filter
	steady steady
}

var kinkTests = [...]kinkTest{
	kinkTest{half: 10, slack: 0.048, share: 0.1, lag: 0.003, gain: 0.02}.filtered(),
	kinkTest{half: 15, slack: 0.045, share: 0.25, lag: 0.001, gain: 0.01}.filtered(),
	kinkTest{half: 20, slack: 0.04, share: 0.35, lag: 0.001, gain: 0.01}.filtered(),
}

// filter are weights of evenly spaced positions, from the oldest.
type filter [longestKink]float64

// filtered makes the filters that estimate by how much slope and curvature change at the middle one of evenly spaced
// positions, in units of distance over spacing and over its square, by least squares beside 1, t and t²: a wind that is
// steady does not count.
func (k kinkTest) filtered() kinkTest {
	abs := func(t float64) float64 { return math.Abs(t) / 2 }
	one := func(float64) float64 { return 1 }
	square := func(t float64) float64 { return t * t }
	line := func(t float64) float64 { return t }
	cube := func(t float64) float64 { return t * math.Abs(t) / 4 }
	k.speeds, k.forces = residualFilter(k.half, abs, one, square), residualFilter(k.half, cube, line, line)
	k.steady = newSteady(k.half)
	return k
}

// residualFilter returns the weights that estimate the factor of f beside a and b on the integers around 0. The
// functions are all even or all odd.
func residualFilter(half int, f, a, b func(float64) float64) (c filter) {
	n := 2*half + 1
	dot := func(f, g func(float64) float64) (sum float64) {
		for i := range n {
			sum += f(float64(i-half)) * g(float64(i-half))
		}
		return sum
	}
	x, y := dot(f, a)/dot(a, a), 0.0
	if det := dot(a, a)*dot(b, b) - dot(a, b)*dot(a, b); det > 0 {
		x, y = (dot(f, a)*dot(b, b)-dot(f, b)*dot(a, b))/det, (dot(f, b)*dot(a, a)-dot(f, a)*dot(a, b))/det
	}
	norm := 0.0
	for i := range n {
		t := float64(i - half)
		c[i] = f(t) - x*a(t) - y*b(t)
		norm += c[i] * f(t)
	}
	for i := range n {
		c[i] /= norm
	}
	return c
}

// drifting reports whether the path has a kink, beside what thrust and a steady wind make of it. Evidence adds up: of a
// short window, of a longer one about the same place, and of a third one where those leave doubt.
func (d *detector) drifting() (since float64, found bool) {
	short, long, last := &kinkTests[0], &kinkTests[1], &kinkTests[2]
	if d.n == 0 {
		return 0, false
	}
	e := d.at(0)
	fresh := d.looked != e.at
	d.looked = e.at
	var k kink
	if e.kinked, k = d.kinked(short); fresh {
		e.kink = k
	}
	if before := d.at(long.half - short.half).kinked; before > 0 {
		now, _ := d.kinked(long)
		if e.both = 0; now > 0 {
			e.both = before + now
		}
	}
	if e.both > kinkProof {
		since, found = d.at(long.half).at, true
	} else if both := d.at(last.half - long.half).both; both > 0 {
		slow, _ := d.kinked(last)
		since, found = d.at(last.half).at, both+slow > slowProof
	}
	if fresh {
		d.learnMisfit()
	}
	return since, found
}

// learnMisfit learns from a short window of some time ago, in which a drift would have been found. A policy answers one
// at once, and beside that answer the drift looks like thrust that is early: learning this would hide it.
func (d *detector) learnMisfit() {
	wait := learnWait
	if d.misfit.takesOff {
		wait = 0
	}
	if e := d.at(wait); d.n > wait && e.kink != (kink{}) {
		d.misfit.learn(&e.kink, e.at)
		e.kink = kink{}
	}
}

// kinked is the speed of a kink amid a window, as a share of the one that is too great to be harmless; 0 where it is
// small, or a step of the stamps explains it better.
func (d *detector) kinked(t *kinkTest) (share float64, k kink) {
	var b bends
	if !d.bends(t.half, &b) {
		return 0, k
	}
	k = t.kink(&b)
	allowed := max(t.slack, kinkDeviations*d.noise.position(), usualKinks*d.misfit.usual())
	d.kink = d.misfit.left(&k)
	share = d.kink.Norm() / (allowed + d.misfit.slack(t, &k))
	if share < leastKink || d.stampsStepped(t, &b) {
		share = 0
	}
	return share, k
}

// bends are the positions of a window beside their chord and, to compare, what the model would make of itself there: m
// for each second by which it lags, and for a gain. They are from the oldest.
type bends struct {
	n                 int
	even              float64 // spacing, s
	off, late, strong [longestKink]so3.Vec3
	swung             [longestKink]so3.Vec3 // of quick turns, that may lift: m for each rad²/s²
	up                so3.Vec3              // direction of thrust amid the window
}

// bends fills b in, and reports whether spacing is even and no exhibit missing. Residuals are counted from the chord:
// uneven spacing then weighs what the model misses, not the way itself.
func (d *detector) bends(half int, b *bends) bool {
	b.n = 2*half + 1
	if d.n < b.n+turnWait {
		return false
	}
	first := d.at(b.n - 1)
	total := d.at(0).at - first.at
	b.even = total / float64(b.n-1)
	var p, v, lifted, lift so3.Vec3
	uneven := false
	for i := 1; i < b.n; i++ {
		e := d.at(b.n - 1 - i)
		dt := e.at - d.at(b.n-i).at
		uneven = uneven || math.Abs(dt-b.even) > evenSpacing
		p = p.Add(v.Scale(dt)).Add(e.gained.Scale(dt / 2))
		v = v.Add(e.gained)
		by := e.q.ZAxis().Scale(e.swung)
		lifted = lifted.Add(lift.Scale(dt)).Add(by.Scale(dt / 2))
		lift = lift.Add(by)
		b.strong[i], b.late[i], b.swung[i] = p, v, lifted
	}
	b.up = d.at(half).q.ZAxis()
	chord, bow, climb := d.at(0).p.Sub(first.p).Scale(1/total), p.Scale(1/total), v.Scale(1/total)
	for i := range b.n {
		e := d.at(b.n - 1 - i)
		t := e.at - first.at
		b.strong[i], b.late[i] = b.strong[i].Sub(bow.Scale(t)), b.late[i].Sub(climb.Scale(t))
		b.off[i] = e.p.Sub(first.p).Sub(chord.Scale(t)).Sub(b.strong[i])
	}
	if uneven {
		b.spread(d, first.at)
	}
	return true
}

// spread interpolates what the exhibits of a window have, so that it is evenly spaced: the filters take it as that.
func (b *bends) spread(d *detector, from float64) {
	was, k := *b, 0
	at := func(i int) float64 { return d.at(b.n-1-i).at - from }
	for i := 1; i < b.n-1; i++ {
		t := float64(i) * b.even
		for at(k+1) < t {
			k++
		}
		share := (t - at(k)) / (at(k+1) - at(k))
		for _, x := range [...]struct{ to, from *[longestKink]so3.Vec3 }{{&b.off, &was.off}, {&b.late, &was.late},
			{&b.strong, &was.strong}, {&b.swung, &was.swung}} {
			x.to[i] = x.from[k].Add(x.from[k+1].Sub(x.from[k]).Scale(share))
		}
	}
}

// kink is what changed half a window ago.
type kink struct {
	off, late, strong bend
	up                so3.Vec3 // direction of thrust
	lifted            float64  // speed along it that quick turns may have given at most, m/s
}

// bend is a change of speed, m/s, and of a steady force, m/s².
type bend struct{ speed, force so3.Vec3 }

func (t *kinkTest) kink(b *bends) kink {
	var lifted so3.Vec3
	for i := range b.n {
		lifted = lifted.Add(b.swung[i].Scale(t.speeds[i] / b.even))
	}
	return kink{t.bend(b, &b.off), t.bend(b, &b.late), t.bend(b, &b.strong), b.up,
		swingLift * lifted.Dot(b.up)}
}

func (t *kinkTest) bend(b *bends, path *[longestKink]so3.Vec3) (x bend) {
	for i := range b.n {
		x.speed = x.speed.Add(path[i].Scale(t.speeds[i] / b.even))
		x.force = x.force.Add(path[i].Scale(t.forces[i] / (b.even * b.even)))
	}
	return x
}

// misfit is the lag and the gain by which the model errs, learned by recursive least squares from kinks of all windows.
// A robot that shakes shows both; in one that does not they do not matter.
type misfit struct {
	takesOff   bool    // when much is to be learned at once
	at         float64 // of the newest window, s
	ll, lg, gg float64 // information
	ly, gy     float64
	kinks      float64 // mean square of what is left, m²/s²
}

// What is not known of lag and gain before.
const (
	misfitMemory  = 3.0       // time constant, s
	lagSpread     = 0.005     // s, standard deviation
	gainSpread    = 0.05 / 3  // the same of the gain
	kinkVariance  = 10 * 2e-4 // m²/s², of a kink; windows overlap, so that ten are worth one
	misfitSpreads = 2.0       // standard deviations that are allowed for
	spreadsSoon   = 3.0       // the same in a take-off
	learnWait     = 22        // exhibits: half of the longest window and two, by when a drift was found
)

func (f *misfit) learn(k *kink, at float64) {
	keep := math.Exp(-min(max(at-f.at, 0), 10*misfitMemory) / misfitMemory)
	left := min(f.left(k).Norm(), 3*max(f.usual(), 0.01)) // one that is far from usual says little
	f.kinks = keep*f.kinks + (1-keep)*left*left
	l, g, y := k.late.speed, k.strong.speed, k.off.speed
	f.at = at
	f.ll = keep*f.ll + l.Dot(l)/kinkVariance
	f.lg = keep*f.lg + l.Dot(g)/kinkVariance
	f.gg = keep*f.gg + g.Dot(g)/kinkVariance
	f.ly = keep*f.ly + l.Dot(y)/kinkVariance
	f.gy = keep*f.gy + g.Dot(y)/kinkVariance
}

// known is the lag, s, and the gain, with the standard deviation of each.
func (f *misfit) known() (lag, gain, lagOff, gainOff float64) {
	ll, gg := f.ll+1/(lagSpread*lagSpread), f.gg+1/(gainSpread*gainSpread)
	det := ll*gg - f.lg*f.lg
	return (gg*f.ly - f.lg*f.gy) / det, (ll*f.gy - f.lg*f.ly) / det, math.Sqrt(gg / det), math.Sqrt(ll / det)
}

// usual is the root mean square of what is left of kinks. It has a bound: nobody is to hide a drift by adding some.
func (f *misfit) usual() float64 { return min(math.Sqrt(f.kinks), 0.04) }

// left is the velocity of a kink that the model's misfit does not explain, and force the same of the force's norm.
func (f *misfit) left(k *kink) so3.Vec3 {
	lag, gain, _, _ := f.known()
	left := k.off.speed.Sub(k.late.speed.Scale(lag)).Sub(k.strong.speed.Scale(gain))
	more, less := max(k.lifted, -swingSinks*k.lifted), min(k.lifted, -swingSinks*k.lifted)
	return left.Sub(k.up.Scale(min(max(left.Dot(k.up), less), more)))
}

func (f *misfit) force(k *kink) float64 {
	lag, gain, _, _ := f.known()
	return k.off.force.Sub(k.late.force.Scale(lag)).Sub(k.strong.force.Scale(gain)).Norm()
}

// slack is the speed that a wind, or what is not known of the misfit, may explain.
func (f *misfit) slack(t *kinkTest, k *kink) float64 {
	_, _, lag, gain := f.known()
	spreads := misfitSpreads
	if f.takesOff {
		spreads = spreadsSoon
	}
	return t.share*f.force(k) + (t.lag+spreads*lag)*k.late.speed.Norm() + (t.gain+spreads*gain)*k.strong.speed.Norm()
}

// stampsStepped reports whether a step of the source's stamps somewhere in the window explains it better than a kink
// amid it does. Samples after it seem to be ahead on the path, or behind.
func (d *detector) stampsStepped(t *kinkTest, b *bends) bool {
	lag, gain, _, _ := d.misfit.known()
	for i := range b.n {
		b.off[i] = b.off[i].Sub(b.late[i].Scale(lag)).Sub(b.strong[i].Scale(gain))
	}
	t.steady.remove(b.off[:b.n])
	var kinked so3.Vec3
	weights := 0.0
	for i, w := range t.speeds[:b.n] {
		kinked, weights = kinked.Add(b.off[i].Scale(w)), weights+w*w
	}
	byKink := kinked.Dot(kinked) / weights // of the sum of squares
	for from := 1; from < b.n; from++ {
		if b.stepped(d, from, &t.steady) > byKink {
			return true
		}
	}
	return false
}

// stepped is what a step of the stamps from an exhibit on explains of the sum of squares.
func (b *bends) stepped(d *detector, from int, s *steady) float64 {
	var path [longestKink]so3.Vec3
	for i := from; i < b.n; i++ {
		path[i] = d.at(b.n - 1 - i).v
	}
	s.remove(path[:b.n])
	xy, xx := 0.0, 0.0
	for i := range b.n {
		xy, xx = xy+path[i].Dot(b.off[i]), xx+path[i].Dot(path[i])
	}
	if xx < 1e-9 {
		return 0
	}
	by := min(max(xy/xx, -maxStampStep), maxStampStep)
	return 2*by*xy - by*by*xx
}

// steady are the orthogonal polynomials on a window's integers that a steady wind gives: 1, t and t².
type steady struct {
	half   int
	mean   float64 // of t²
	n1, n2 float64 // norms
}

func newSteady(half int) (s steady) {
	s.half = half
	n := float64(2*half + 1)
	for t := -half; t <= half; t++ {
		s.n1 += float64(t * t)
	}
	s.mean = s.n1 / n
	for t := -half; t <= half; t++ {
		q := float64(t*t) - s.mean
		s.n2 += q * q
	}
	return s
}

// remove takes from a path what they make up of it.
func (s *steady) remove(path []so3.Vec3) {
	var c0, c1, c2 so3.Vec3
	for i, p := range path {
		t := float64(i - s.half)
		c0, c1, c2 = c0.Add(p), c1.Add(p.Scale(t)), c2.Add(p.Scale(t*t-s.mean))
	}
	c0, c1, c2 = c0.Scale(1/float64(len(path))), c1.Scale(1/s.n1), c2.Scale(1/s.n2)
	for i := range path {
		t := float64(i - s.half)
		path[i] = path[i].Sub(c0).Sub(c1.Scale(t)).Sub(c2.Scale(t*t - s.mean))
	}
}
