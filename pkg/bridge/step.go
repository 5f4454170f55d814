package bridge

import (
	"vnd/msgs"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/control"
)

// PutStep fills m with a tick; frame is the name of the world's. It allocates nothing once m has held as much.
func PutStep(m *msgs.Step, t *control.TickRecord, frame string) {
	m.Header.Stamp, m.Header.FrameID = Time(t.Stamp), frame
	m.Seq = t.Seq
	putPose(&m.Pose, t.State)
	m.Velocity = vector3(t.State.V)
	m.Command, m.CommandSent, m.Actuator = row(t.Command), row(t.Sent), row(t.Actuator)
	m.Reference = m.Reference[:0]
	for i := range t.Reference {
		r := &t.Reference[i]
		m.Reference = append(m.Reference, r.P.X, r.P.Y, r.P.Z, r.V.X, r.V.Y, r.V.Z, r.Yaw)
	}
	m.Latent = append(m.Latent[:0], t.Latent...)
	m.LatentStamp = Time(t.LatentStamp)
	m.BundleID, m.GuardState, m.Confidence, m.Task = t.Bundle, uint8(t.Stage), t.Confidence, t.Task
}

// ReferenceOf is the reference at a tick, of which P, V and Yaw are known; false where there is none.
func ReferenceOf(m *msgs.Step) (r quad.Reference, ok bool) {
	const row = 7
	if len(m.Reference) < row {
		return r, false
	}
	x := m.Reference
	r.P, r.V, r.Yaw = so3.Vec3{X: x[0], Y: x[1], Z: x[2]}, so3.Vec3{X: x[3], Y: x[4], Z: x[5]}, x[6]
	return r, true
}

func row(c quad.Command) [4]float64 {
	return [4]float64{c.Thrust, c.Rates.X, c.Rates.Y, c.Rates.Z}
}

// FromLatent reads what an encoder said; the numbers are m's own.
func FromLatent(m *msgs.Latent) control.Latent {
	return control.Latent{Stamp: Nanoseconds(m.Header.Stamp), Bundle: m.BundleID, Mean: m.Mean, Novelty: m.Novelty}
}

// PutLatent fills m. It allocates nothing once m has held as much.
func PutLatent(m *msgs.Latent, z *control.Latent) {
	m.Header.Stamp = Time(z.Stamp)
	m.Mean = append(m.Mean[:0], z.Mean...)
	m.Novelty, m.BundleID = z.Novelty, z.Bundle
}
