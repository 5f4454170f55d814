package reference

import (
	"errors"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// line goes east at a speed, a kind that this package does not have.
type line struct {
	Speed float64 `param:"speed" default:"1.0" min:"0" max:"5" unit:"m/s" doc:"towards east"`
	End   float64 `param:"end" default:"2.0" min:"0" max:"10" unit:"s" doc:"when it is there"`
}

func (*line) Kind() string { return "line" }

func (l *line) Build() (Reference, error) {
	if l.Speed*l.End > 20 {
		return nil, errors.New("too long")
	}
	return eastward{*l}, nil
}

type eastward struct{ line }

func (e eastward) At(t float64) quad.Reference {
	return quad.Reference{P: so3.Vec3{X: e.Speed * min(t, e.End)}, V: so3.Vec3{X: e.Speed}}
}
func (e eastward) Duration() float64 { return e.End }
func (e eastward) Horizon() float64  { return e.End }
func (e eastward) Spec() Spec        { return &e.line }

func TestAddedKindIsParsedAndFormatted(t *testing.T) {
	before := kinds
	defer func() { kinds = before }()
	Add(func() Spec { return new(line) })
	r, err := Parse("test", []byte(`{"kind": "line", "speed": 3}`))
	if err != nil {
		t.Fatal(err)
	}
	if p := r.At(9).P; p.X != 6 {
		t.Errorf("ends at %v, want 6 m east", p)
	}
	if text, err := Format(r.Spec()); err != nil || string(text) != `{"kind":"line","speed":3,"end":2}` {
		t.Errorf("formatted as %s, %v", text, err)
	}
	for name, text := range map[string]string{
		"out of range": `{"kind": "line", "speed": 6}`, "refused by Build": `{"kind": "line", "speed": 5, "end": 9}`,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Parse("test", []byte(text)); err == nil {
				t.Error("was taken")
			}
		})
	}
}

func TestAddRefusesMistakesInTheSource(t *testing.T) {
	for name, empty := range map[string]func() Spec{
		"a kind that is there": func() Spec { return new(Hover) },
		"tags that are not":    func() Spec { return new(tagless) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			Add(empty)
		})
	}
}

type tagless struct{ Hover, Speed float64 }

func (*tagless) Kind() string              { return "tagless" }
func (*tagless) Build() (Reference, error) { return nil, errors.New("never built") }
