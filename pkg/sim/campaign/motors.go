package campaign

import (
	"vnd/pkg/core/param"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/robot/rotors"
)

// robot is that of the run's bundle: one of motors has the loop command them, for the default airframe.
func (r *Run) robot() string {
	if r.Bundle.Robot == rotors.Name {
		return rotors.Name
	}
	return quadrotor.Name
}

// byMotors has the loop command motors where the bundle does.
func (f *flight) byMotors() error {
	if f.robot() != rotors.Name {
		return nil
	}
	var a rotors.Airframe
	param.Default(&a)
	f.gyro.Reset(f.Seed)
	return f.loop.CommandMotors(&a)
}

// turned hands the loop what a gyroscope measures.
func (f *flight) turned() {
	if f.robot() != rotors.Name {
		return
	}
	truth := f.vehicle.Truth()
	if t := truth.Time - f.Onset; t < 0 || f.Gyro == nil || f.Gyro(t) {
		f.loop.SetRates(f.now(), f.gyro.Rates(truth.Rates))
	}
}

// obey has the vehicle follow what goes out.
func (f *flight) obey() {
	if d := f.loop.Decision(); f.robot() == rotors.Name {
		f.vehicle.Motors(d.Motors)
	} else {
		f.vehicle.Command(d.Sent)
	}
}
