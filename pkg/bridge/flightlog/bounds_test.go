package flightlog

import (
	"math"
	"testing"

	"vnd/pkg/core/quad"
)

func TestImplausibleNumbers(t *testing.T) {
	for _, c := range []struct {
		column      int
		good, wrong string
		want        string
	}{
		{colPX, "-1e5", "448262.15", `: 448262.15 m, expected at most 100000 m from the origin: of coordinates like ` +
			`UTM, subtract a local origin`},
		{colPZ, "1e5", "-5.41e6", `: -5.41e+06 m, expected at most 100000 m from the origin: of coordinates like ` +
			`UTM, subtract a local origin`},
		{colVY, "-200", "201", `: 201 m/s, expected at most 200`},
		{colThrust, "-1", "-1.5", `: -1.5, expected thrust per mass in m/s² (hover is 9.81) from -1 to 500: is it ` +
			`newtons, grams or PWM?`},
		{colThrust, "500", "38000", `: 38000, expected thrust per mass in m/s² (hover is 9.81) from -1 to 500: is ` +
			`it newtons, grams or PWM?`},
		{colWX, "200", "573", `: 573, expected rad/s, at most 200: are they degrees per second?`},
		{colWZ, "-200", "-1e308", `: -1e+308, expected rad/s, at most 200: are they degrees per second?`},
	} {
		table := straight(40)
		table[10][c.column] = c.good
		if _, _, err := parse(table); err != nil {
			t.Errorf("%s of %s: %v", columnNames[c.column], c.good, err)
		}
		table[10][c.column] = c.wrong
		want := `dir/f.csv:11: column "` + columnNames[c.column] + `"` + c.want
		if _, _, err := parse(table); err == nil || err.Error() != want {
			t.Errorf("error\n%v, expected\n%s", err, want)
		}
	}
}

// Beyond the airframe's limits rates are refused, within them nothing is said of degrees.
func TestLimits(t *testing.T) {
	o := DefaultOptions()
	o.Limits.Rate = 5
	want := agile + `:2: column "wx": body rates of 11.26 rad/s in all, the airframe's limit is 5 (max_rate)`
	if _, _, err := ReadCSV(agile, o); err == nil || err.Error() != want {
		t.Errorf("error\n%v, expected\n%s", err, want)
	}
	o.Limits.Rate = 40
	if _, warnings, err := ReadCSV(agile, o); err != nil || len(warnings) > 0 {
		t.Errorf("error %v, warnings %v in spite of the airframe", err, warnings)
	}
	o.Limits.Rate = 2000
	degrees := func(s *quad.Row) { s.Command.Rates = s.Command.Rates.Scale(180 / math.Pi) }
	for _, path := range []string{agile, zigzag} {
		if w := spoiled(t, path, o, degrees); len(w) > 0 {
			t.Errorf("%s: warnings %v in spite of the airframe", path, w)
		}
	}
}
