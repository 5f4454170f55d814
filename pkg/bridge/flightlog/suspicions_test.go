package flightlog

import (
	"math"
	"testing"

	"vnd/pkg/core/quad"
)

// spoiled returns warnings about the flight at path after spoil was done to each of its steps.
func spoiled(t *testing.T, path string, o Options, spoil func(*quad.Row)) []Warning {
	f := mustRead(t, path)
	for i := range f.Segments[0] {
		spoil(&f.Segments[0][i])
	}
	var out []Warning
	for _, s := range suspicions(f, o, false) {
		out = append(out, Warning{File: "f.csv", Column: columnNames[s.column], Text: s.text})
	}
	return out
}

func TestSuspicions(t *testing.T) {
	degrees := func(s *quad.Row) { s.Command.Rates = s.Command.Rates.Scale(180 / math.Pi) }
	gentle := func(s *quad.Row) { // stays below what vehicles turn even so
		s.Command.Rates = s.Command.Rates.Scale(0.1 * 180 / math.Pi)
	}
	for name, c := range map[string]struct {
		path    string
		options Options
		spoil   func(*quad.Row)
		want    string
	}{
		"degrees, agile": {agile, DefaultOptions(), degrees,
			`f.csv: column "wx": 99th percentile of the rates 520, more than vehicles turn: they look like degrees ` +
				`per second, expected rad/s`},
		"degrees, gentle": {zigzag, DefaultOptions(), gentle,
			`f.csv: column "wx": the attitude turns 7.235 times slower than the rates say: they look like degrees ` +
				`per second, expected rad/s`},
		"newtons": {agile, DefaultOptions(), func(s *quad.Row) { s.Command.Thrust *= 0.033 },
			`f.csv: column "thrust": mean 0.3505, while hover is 9.81 m/s²: it looks like a throttle or newtons of ` +
				`a small vehicle, expected thrust per mass`},
		"PWM": {agile, DefaultOptions(), func(s *quad.Row) { s.Command.Thrust *= 3600 },
			`f.csv: column "thrust": mean 3.824e+04, while hover is 9.81 m/s²: it looks like newtons, grams or PWM, ` +
				`expected thrust per mass`},
		"millimetres": {agile, DefaultOptions(), func(s *quad.Row) { s.State.P = s.State.P.Scale(1000) },
			`f.csv: column "vx": the position moves 1006 times as fast: position or velocity is in another unit, ` +
				`expected m and m/s`},
		"another frame": {agile, DefaultOptions(),
			func(s *quad.Row) { s.State.V.X, s.State.V.Y = s.State.V.Y, -s.State.V.X },
			`f.csv: column "vx": the position does not move along it (correlation 0.07): it looks like another ` +
				`frame, expected the world's`},
	} {
		t.Run(name, func(t *testing.T) {
			warnings := spoiled(t, c.path, c.options, c.spoil)
			if len(warnings) != 1 || warnings[0].String() != c.want {
				t.Errorf("warnings\n%v, expected\n%v", warnings, c.want)
			}
		})
	}
}
