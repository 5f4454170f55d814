// Package policy is π_θ as it flies and as it is trained: observation, net and
// limits, from state, reference, past commands and latent to a command.
//
// Shapes: B batch, O observation, L look-aheads, K past actions, A action,
// R reference row, Z latent. Row-major, batch first. An action is a command in
// units of the limits, in (-1, 1).
package policy

import (
	"fmt"
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/nn/kernel"
	"vnd/pkg/robot/quadrotor"
)

// Observation says what a policy sees (paper, "Policy Learning and Deployment":
// O_task selects state, reference and action-history features).
type Observation struct {
	PreviewPoints int     `param:"preview_points" was:"looks" json:"Looks" default:"5" min:"1" max:"50" doc:"points of the reference that the policy sees, the first of them now"`
	PreviewTime   float64 `param:"preview_time" was:"ahead" json:"Ahead" default:"0.4" min:"0" max:"5" unit:"s" doc:"how far ahead the last of these points lies in time"`
	PastActions   int     `param:"past_actions" was:"past" json:"Past" default:"5" min:"1" max:"50" doc:"K, past actions that the policy sees"`

	// BodyRates says that a policy sees measured body rates, w_B rad/s, after all else: one that commands rotors does.
	BodyRates bool `param:"-" json:",omitzero"`

	// Push is the unit of the push that a policy sees after all else: what the newest rows have beyond the model's
	// prediction under the latent, in the world.
	Push float64 `param:"push" json:",omitzero" default:"1.0" min:"0" max:"20" unit:"m/s²" doc:"spread of accelerations beyond the model, under which policies are trained and which they see; 0: they see none"`

	// Lag is the unit of the lag that a policy sees at the very end: how much later than the model expects the robot
	// turns after its commands.
	Lag float64 `param:"lag" json:",omitzero" default:"0.04" min:"0" max:"0.2" unit:"s" doc:"unit of the lag beyond the model, under which policies are trained and which they see; 0: they see none"`

	Camera Camera `param:"camera" json:",omitzero" doc:"camera whose view of known points a policy sees instead of positions"`
}

// Sizes of the parts of an observation.
const (
	nA         = 4           // thrust and three rates, or motors
	velocities = 6           // v_W and v_ref − v
	attitude   = 9           // R_WB, row by row
	heading    = 2           // cos and sin of the reference's yaw
	bodyRates  = 3           // w_B
	pushes     = 3           // in the world
	statePart  = 3 + 4 + 3   // p, q, v
	refTail    = 3 + heading // of a reference row, after the positions
	fixedParts = velocities + attitude + heading
)

// Size is O without the latent.
func (o *Observation) Size() int { return o.rates() + o.ratesSize() + o.MeasuredSize() }

// MeasuredSize is how many numbers of a push and a lag are at the end.
func (o *Observation) MeasuredSize() int { return o.pushSize() + o.lagSize() }

func (o *Observation) pushSize() int {
	if o.Push > 0 {
		return pushes
	}
	return 0
}

func (o *Observation) lagSize() int {
	if o.Lag > 0 {
		return 1
	}
	return 0
}

// rates is where body rates begin, and ratesSize how many they are.
func (o *Observation) rates() int { return o.where() + fixedParts + nA*o.PastActions }

func (o *Observation) ratesSize() int {
	if o.BodyRates {
		return bodyRates
	}
	return 0
}

// where is the size of the part that tells where the robot is: its features, or
// the positions of the look-aheads around it.
func (o *Observation) where() int {
	if n := o.Camera.shown(); n > 0 {
		return n
	}
	return 3 * o.PreviewPoints
}

// Names of the channels, in their order.
func (o *Observation) Names() (names []string) {
	add := func(format string, of ...string) {
		for _, x := range of {
			names = append(names, fmt.Sprintf(format, x))
		}
	}
	if o.Camera.Count() > 0 {
		o.Camera.addNames(add)
	} else {
		for k := range o.PreviewPoints {
			add(fmt.Sprintf("reference in %.2f s %%s", o.Look(k)), "x", "y", "z")
		}
	}
	add("velocity %s", "x", "y", "z")
	add("velocity to the reference's %s", "x", "y", "z")
	add("attitude %s", "xx", "xy", "xz", "yx", "yy", "yz", "zx", "zy", "zz")
	add("reference's yaw %s", "cos", "sin")
	actions := []string{"thrust", "rate x", "rate y", "rate z"}
	if o.BodyRates {
		actions = []string{"motor 1", "motor 2", "motor 3", "motor 4"}
	}
	for k := range o.PastActions {
		add(fmt.Sprintf("action %d ago %%s", k+1), actions...)
	}
	if o.BodyRates {
		add("body rate %s", "x", "y", "z")
	}
	if o.Push > 0 {
		add("push %s", "x", "y", "z")
	}
	if o.Lag > 0 {
		add("%s", "lag")
	}
	return names
}

// Flag reports whether a channel has a unit of its own: the visibility of a feature, a push or a lag.
func (o *Observation) Flag(channel int) bool {
	if channel >= o.Size()-o.MeasuredSize() {
		return true
	}
	if o.Camera.StateFree {
		return channel < (1+spans)*ErrorSize && channel%ErrorSize == axes
	}
	return channel < o.Camera.Size() && channel%perFeature == perFeature-1
}

// RefSize is R: L positions, the velocity now, cos and sin of the yaw now.
func (o *Observation) RefSize() int { return 3*o.PreviewPoints + refTail }

// Look is the time of look-ahead k from now, s.
func (o *Observation) Look(k int) float64 {
	if o.PreviewPoints == 1 {
		return 0
	}
	return o.PreviewTime * float64(k) / float64(o.PreviewPoints-1)
}

// nearest is the look-ahead whose time is nearest to t seconds from now.
func (o *Observation) nearest(t float64) int {
	if o.PreviewPoints == 1 || o.PreviewTime == 0 {
		return 0
	}
	return min(int(math.Round(t*float64(o.PreviewPoints-1)/o.PreviewTime)), o.PreviewPoints-1)
}

// PutReference writes a reference row; at(t) is the reference t seconds from
// now, its positions in the frame of the states that will be observed; what it
// returns is read before the next call.
func PutReference[F kernel.Float](o *Observation, at func(t float64) *quad.Reference, row []F) {
	for k := range o.PreviewPoints {
		p := &at(o.Look(k)).P
		row[3*k], row[3*k+1], row[3*k+2] = F(p.X), F(p.Y), F(p.Z)
	}
	now, tail := at(0), row[3*o.PreviewPoints:]
	tail[0], tail[1], tail[2] = F(now.V.X), F(now.V.Y), F(now.V.Z)
	sin, cos := math.Sincos(now.Yaw)
	tail[3], tail[4] = F(cos), F(sin)
}

// PutRates writes body rates into a row of an observation of width, if it has them, from states of S numbers that have
// them after p, q and v. Rows are B.
func PutRates[F kernel.Float](o *Observation, s, x []F, S, width int) {
	for n := o.ratesSize(); n > 0 && len(s) >= S; s, x = s[S:], x[width:] {
		copy(x[o.rates():][:n], s[statePart:])
	}
}

// PullRates adds the pullback of dx through PutRates to ds.
func PullRates[F kernel.Float](o *Observation, dx, ds []F, S, width int) {
	for n := o.ratesSize(); n > 0 && len(ds) >= S; ds, dx = ds[S:], dx[width:] {
		for j, d := range dx[o.rates():][:n] {
			ds[statePart+j] += d
		}
	}
}

// PutPush writes a push, m/s² in the world, into a row of an observation, if it has one.
func PutPush[F kernel.Float](o *Observation, push so3.Vec3, x []F) {
	if o.Push > 0 {
		x = x[o.Size()-o.MeasuredSize():]
		x[0], x[1], x[2] = F(push.X/o.Push), F(push.Y/o.Push), F(push.Z/o.Push)
	}
}

// PutLag writes a lag, s, into a row of an observation, if it has one.
func PutLag[F kernel.Float](o *Observation, lag float64, x []F) {
	if o.Lag > 0 {
		x[o.Size()-1] = F(lag / o.Lag)
	}
}

// View is the observation as the quadrotor's kernels put it together, from states of S numbers into rows of width.
func (o *Observation) View(S, width int) quadrotor.View {
	return quadrotor.View{PreviewPoints: o.PreviewPoints, Place: o.where(), Past: o.PastActions, State: S, Width: width}
}
