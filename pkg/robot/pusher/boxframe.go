package pusher

import "vnd/pkg/nn/kernel"

// BoxFrame is a pusher whose action is a velocity in the frame of the box, in shares of MostSpeed, as policies have it.
type BoxFrame[F kernel.Float] struct{ *Pusher[F] }

// command turns the action of a state to the table.
func command[F kernel.Float](s, a []F) (c [nA]F) {
	v := turn(float64(s[4])).on(take(a))
	c[0], c[1] = F(MostSpeed*v[0]), F(MostSpeed*v[1])
	return c
}

// pull adds the pullback of dc, of row b's command, to those of state and action.
func (m BoxFrame[F]) pull(b int, s, a, ds, da []F, dc [nA]F) {
	r, g := turn(float64(s[nS*b+4])), vector{MostSpeed * float64(dc[0]), MostSpeed * float64(dc[1])}
	ds[nS*b+4] += F(g.dot(r.on(take(a[nA*b:]).left())))
	if da != nil {
		back := r.back(g)
		da[nA*b] += F(back[0])
		da[nA*b+1] += F(back[1])
	}
}

// Step implements System.
func (m BoxFrame[F]) Step(B int, s, a, d, next []F) {
	for b := range B {
		c := command(s[nS*b:], a[nA*b:])
		m.Pusher.Step(1, s[nS*b:], c[:], d[nS*b:], next[nS*b:])
	}
}

// StepVJP implements System.
func (m BoxFrame[F]) StepVJP(B int, s, a, d, dnext, ds, da, dd []F) {
	for b := range B {
		row, x := s[nS*b:], a[nA*b:]
		c := command(row, x)
		var dc [nA]F
		m.Pusher.StepVJP(1, row, c[:], d[nS*b:], dnext[nS*b:], ds[nS*b:], dc[:], dd[nS*b:])
		m.pull(b, s, a, ds, da, dc)
	}
}

// Inputs implements System.
func (m BoxFrame[F]) Inputs(B int, s, a, x []F) {
	for b := range B {
		c := command(s[nS*b:], a[nA*b:])
		m.Pusher.Inputs(1, s[nS*b:], c[:], x[nX*b:])
	}
}

// InputsVJP implements System.
func (m BoxFrame[F]) InputsVJP(B int, s, a, dx, ds, da []F) {
	for b := range B {
		c := command(s[nS*b:], a[nA*b:])
		var dc [nA]F
		m.Pusher.InputsVJP(1, s[nS*b:], c[:], dx[nX*b:], ds[nS*b:], dc[:])
		m.pull(b, s, a, ds, da, dc)
	}
}

// Window implements System.
func (m BoxFrame[F]) Window(T int, measured, actions, s, ctx, states, r []F) {
	commands := make([]F, T*nA)
	for i := range T {
		c := command(measured[nS*i:], actions[nA*i:])
		copy(commands[nA*i:], c[:])
	}
	m.Pusher.Window(T, measured, commands, s, ctx, states, r)
}
