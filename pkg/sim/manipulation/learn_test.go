package manipulation

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"vnd/pkg/learning/armlearning"
	"vnd/pkg/robot/arm"
)

// TestPayloadsAreLearned: a policy of the prior sags under payloads that it is not told of. What it flew makes a model
// in which it is improved, the gate lets that pass, and under a heavy payload it errs by far less.
func TestPayloadsAreLearned(t *testing.T) {
	if testing.Short() {
		t.Skip("learns for seconds")
	}
	const heavy = 2 // kg: with more, what a base learns in seconds may lose the path
	b := QuickBudget()
	b.Progress = t.Logf
	references, err := b.References()
	if err != nil {
		t.Fatal(err)
	}
	l, err := b.Learn(t.Context(), references)
	if err != nil {
		t.Fatal(err)
	}
	if !l.Verdict.Pass {
		t.Errorf("refused: %q", l.Verdict.Reasons())
	}
	base, improved := ByPolicy("base", l.Base, nil), ByPolicy("improved", l.Improved, l.Model)
	sags, crash := base.Fly(ours, heavy, references[0])
	if crash != "" {
		t.Fatal(crash)
	}
	if off, crash := improved.Fly(ours, heavy, references[0]); crash != "" || !(off < 0.5*sags) {
		t.Errorf("improved, it errs by %g m, the base by %g m %s", off, sags, crash)
	}
	if share, windows := b.Recognise(l, references); windows < 100 || !(share > 2/float64(len(Masses))) {
		t.Errorf("%.2f of %d windows tell the payload, chance %.2f", share, windows, 1/float64(len(Masses)))
	}
}

// TestTableCountsCrashes: a method that is lost has no error.
func TestTableCountsCrashes(t *testing.T) {
	var out strings.Builder
	all := Compare(ours, []*arm.Reference{circle(t)}, ByLaw("limp", func() Law { return limp{} }))
	if err := Table(&out, all); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(out.String(), "\n"); !strings.Contains(lines[0], "3 kg") ||
		!strings.HasSuffix(strings.TrimSpace(lines[1]), "NaN       10") {
		t.Errorf("got %q", lines)
	}
}

// diverging is a world whose rates are without bounds after some steps.
type diverging struct {
	World[float32]
	after int
}

func (w *diverging) Step(s, a []float32) error {
	if w.after--; w.after < 0 {
		s[arm.Joints] = float32(math.Inf(1))
	}
	return w.World.Step(s, a)
}

// TestRecordingsThatEndEarlyAreReported in one line, whether their world diverges, is none, or the path is lost.
func TestRecordingsThatEndEarlyAreReported(t *testing.T) {
	inEach(t, func(t *testing.T, simulator string) {
		w, err := NewWorld[float32](simulator)
		skipWithout(t, err)
		defer w.Close()
		r, b := circle(t), QuickBudget()
		idle, err := armlearning.NewPolicy(&b.Base, armlearning.Task(0, r), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			mass  float64
			after int // steps to where the world diverges
			want  string
		}{
			{1, 5, "under 1 kg ends after 0.12 s of 4: .*(without bounds|MuJoCo: positions, velocities).*"},
			{99, 5, "under 99 kg ends after 0.00 s of 4: .*payload is 99, expected 0 to 3"},
			{3, 1000, "under 3 kg ends after 0.* s of 4: .* off the reference .*"},
		} {
			var lines []string
			b.World = &diverging{w, c.after}
			b.Progress = func(format string, a ...any) { lines = append(lines, fmt.Sprintf(format, a...)) }
			rows := b.fly(idle, nil, c.mass, r, b.drawn(0, 0))
			want := "^a recording " + c.want + "$"
			if len(lines) != 1 || !regexp.MustCompile(want).MatchString(lines[0]) {
				t.Errorf("of %d rows it is said: %q, want one line %q", len(rows), lines, want)
			}
		}
	})
}
