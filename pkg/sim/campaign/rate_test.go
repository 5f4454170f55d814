package campaign

import "testing"

// Rows fly by motion capture of the rate that was asked for.
func TestMocapRate(t *testing.T) {
	rows, err := Select("quality")
	if err != nil {
		t.Fatal(err)
	}
	p := *made(t)
	p.Mocap = 30
	r, err := newRun(&p, &rows[0], 0, 0, 3)
	if err != nil {
		t.Fatal(err)
	}
	samples := 0.0
	r.Mocap = func(float64, *Sample) bool { samples++; return true }
	if err := r.Fly(); err != nil {
		t.Fatal(err)
	}
	seconds := r.Ticks[len(r.Ticks)-1].T - r.Onset
	if rate := samples / seconds; rate < 29 || rate > 31 {
		t.Errorf("%.1f samples a second, want 30", rate)
	}
}
