package plot

import (
	"io"
	"testing"
)

// Every way of doing the work is drawn, in each panel; what does not fit together is refused.
func TestTimeAgainstSize(t *testing.T) {
	ways := func(n int) (out []Series) {
		for i, name := range []string{"1 thread", "2 threads", "2 ranks"} {
			s := Series{Name: name}
			for k := range n {
				s.Values = append(s.Values, float64((k+1)*10)/float64(i+1))
			}
			out = append(out, s)
		}
		return out
	}
	panels := []Scaling{{"environments", []float64{64, 128, 256}, ways(3)}, {"steps", []float64{25, 50}, ways(2)}}
	img := picture(t, func(w io.Writer) error { return TimeAgainstSize(w, "Time per epoch", panels) })
	for i := range 3 {
		if n := pixels(img, lineStyle(i).Color, 0.2, 1); n < 400 {
			t.Errorf("%d pixels of line %d", n, i)
		}
	}
	panels[1].Ways[2].Values = panels[1].Ways[2].Values[:1]
	if err := TimeAgainstSize(io.Discard, "", panels); err == nil {
		t.Error("a time is missing, and nobody said so")
	}
	if err := TimeAgainstSize(io.Discard, "", nil); err == nil {
		t.Error("a picture of nothing")
	}
}
