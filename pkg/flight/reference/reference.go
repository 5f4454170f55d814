// Package reference is where the robot is to be at each moment: hovering, figure-eights, landings, stars, zig-zags,
// polynomials through points and recorded tables. It is for policies, their training and the node policy_controller.
//
// Positions are in the world, ENU with z up, in m; times in s from the reference's own start; angles in rad.
package reference

import (
	"fmt"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// Reference is a curve in time. V and A are the first and second derivatives of P, YawRate that of Yaw (which may wrap
// at ±π); V is continuous for t ≥ 0, and A is bounded. A Reference does not change: many goroutines may share one.
type Reference interface {
	// At returns the reference t seconds from its start; before it, that of the start. It allocates nothing.
	At(t float64) quad.Reference
	// Duration is the time after which it rests at its end, or against a pad that moves; 0: it never ends.
	Duration() float64
	// Horizon is the time after which no new place comes, for checks and drawings: the duration or, of an endless one,
	// its beginning and once round. 0 at a single place.
	Horizon() float64
	// Spec is what it was made of.
	Spec() Spec
}

// Spec describes a reference: a struct of parameters of one kind, with defaults (param.Default), such as *FigureEight.
type Spec interface {
	// Kind is the name of the kind in JSON, such as "figure_eight".
	Kind() string
	// Build makes the reference. It refuses parameters that do not fit one another; each is in its range.
	Build() (Reference, error)
}

// Opener is a Spec whose Build opens a file. ParseReceived refuses it where it names one.
type Opener interface {
	// Opens is the path that Build opens, "" for none.
	Opens() string
}

// Add makes Parse and New know a kind of one's own, so that services, parameter files and --reference take it. A
// program calls it before all else. It panics where the kind is there already or package param refuses its tags.
func Add(empty func() Spec) {
	s := empty()
	if err := param.Check(s); err != nil {
		panic(fmt.Sprintf("reference %s: %v", s.Kind(), err))
	}
	for _, k := range kinds {
		if k().Kind() == s.Kind() {
			panic(fmt.Sprintf("reference %s is there already", s.Kind()))
		}
	}
	kinds = append(kinds, empty)
}

// kinds makes an empty Spec of each kind.
var kinds = []func() Spec{
	func() Spec { return new(Hover) },
	func() Spec { return new(FigureEight) },
	func() Spec { return new(Landing) },
	func() Spec { return new(Star) },
	func() Spec { return new(ZigZag) },
	func() Spec { return new(Polynomial) },
	func() Spec { return new(CSV) },
}

// New makes the reference of a spec. The error names the parameter at fault, what it is and what was expected.
func New(s Spec) (Reference, error) {
	data, err := Format(s)
	if err != nil {
		return nil, err
	}
	return parse(data) // what JSON cannot say, Go cannot either
}

// StartAt returns r for a robot that is at s when it begins. Only a landing whose spec names no place to start from
// depends on that; all others are returned as they are.
func StartAt(r Reference, s *quad.State) (Reference, error) {
	l, ok := r.Spec().(*Landing)
	if !ok || len(l.From) > 0 {
		return r, nil
	}
	bound := *l
	bound.From = []float64{s.P.X, s.P.Y, s.P.Z}
	bound.FromVelocity = []float64{s.V.X, s.V.Y, s.V.Z}
	bound.Yaw = s.Q.Yaw()
	return New(&bound)
}

func vec(x [3]float64) so3.Vec3 { return so3.Vec3{X: x[0], Y: x[1], Z: x[2]} }
