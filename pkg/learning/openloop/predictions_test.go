package openloop

import (
	"bytes"
	"encoding/csv"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// TestWritePredictions reads the file back: rows counted in the recording, 30 of which are in no segment, states as
// predicted.
func TestWritePredictions(t *testing.T) {
	whole := fixtures(t)[0].Segments[0]
	f := quad.Flight{Name: "cut", Segments: [][]quad.Row{whole[:90], whole[120:250]}, First: []int{0, 120}}
	e := Entry{NameRecentMean, RecentMean{dt}, nil}
	var buf bytes.Buffer
	if err := WritePredictions(&buf, &f, e, 50, 5); err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(&buf).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(records[0], ","); got != PredictionHeader {
		t.Errorf("header %s", got)
	}
	var starts []string
	sum := 0.0
	for i, rec := range records[1:] {
		if want := strconv.Itoa(i%50 + 1); rec[1] != want {
			t.Fatalf("line %d: step %s, want %s", i+2, rec[1], want)
		}
		if rec[1] != "50" {
			continue
		}
		starts = append(starts, rec[0])
		k, _ := strconv.Atoi(rec[0])
		x, _ := strconv.ParseFloat(rec[9], 64) // vx
		y, _ := strconv.ParseFloat(rec[10], 64)
		z, _ := strconv.ParseFloat(rec[11], 64)
		d := whole[k+50].State.V.Sub(so3.Vec3{X: x, Y: y, Z: z})
		sum += d.Dot(d)
	}
	if got := strings.Join(starts, " "); got != "20 25 30 35 140 145 150 155 160 165 170 175 180 185 190 195" {
		t.Errorf("starts %s", got)
	}
	r, err := Score([]quad.Flight{f}, []Entry{e}, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := math.Sqrt(sum/float64(len(starts))), r.Total[0][49].Velocity; relative(got, want) > 1e-8 {
		t.Errorf("error of velocity from the file %g, scored %g", got, want)
	}
}

func TestWritePredictionsRefuses(t *testing.T) {
	f := fixtures(t)[0]
	stub := quad.Flight{Name: "stub", Segments: [][]quad.Row{f.Segments[0][:70]}}
	for want, err := range map[string]error{
		"flight stub has no segment of more than 70 rows": WritePredictions(&bytes.Buffer{}, &stub,
			Entry{"p", Prior{dt}, nil}, 50, 5),
		"0 steps": WritePredictions(&bytes.Buffer{}, &f, Entry{"p", Prior{dt}, nil}, 0, 5),
		"flight " + f.Name + ": bad: no such sensor": WritePredictions(&bytes.Buffer{}, &f, Entry{"bad", broken{}, nil},
			50, 5),
		"disk is full": WritePredictions(full{}, &f, Entry{"p", Prior{dt}, nil}, 50, 5),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk is full") }
