package manipulation

import (
	"strings"
	"testing"

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
