package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"vnd/pkg/sim/experiment"
)

// scheduled reads the world of a flag, which is to have a schedule or none.
func scheduled(flag, file string, schedule bool) ([]experiment.Scenario, error) {
	out, err := experiment.Scenarios(file)
	if err != nil {
		return nil, err
	}
	if (out[0].Seconds > 0) != schedule {
		return nil, fmt.Errorf("%s %s: expected a world %s a schedule", flag, file,
			map[bool]string{true: "with", false: "without"}[schedule])
	}
	return out, nil
}

// writeTurns writes how methods came through turns of the wind, where there were any.
func writeTurns(b *strings.Builder, rows []experiment.MethodRow, how string,
	of func(experiment.MethodRow) *experiment.Turns) {
	if !slices.ContainsFunc(rows, func(r experiment.MethodRow) bool { return of(r) != nil }) {
		return
	}
	fmt.Fprintf(b, "\nAfter the wind %s, medians over the turns of all seeds.\n\n| method | turns "+
		"| T_rec with ε + 2 cm, s | with ε, s | within at once | never | peak, m | ε, m "+
		"|\n|---|---|---|---|---|---|---|---|\n", how)
	for _, r := range rows {
		t := of(r)
		if t == nil { // it never came to a turn
			fmt.Fprintf(b, "| %s | 0 | – | – | – | – | – | – |\n", r.Name)
			continue
		}
		fmt.Fprintf(b, "| %s | %d | %s | %s | %.0f %% | %.0f %% | %.3f | %.4f |\n", r.Name, t.N, within(t.Wide),
			within(t.Literal), 100*t.Zero, 100*t.Never, t.Peak, t.Envelope)
	}
}

// writeReturns writes the errors in winds that came back, where there were any.
func writeReturns(b *strings.Builder, rows []experiment.MethodRow) {
	columns := slices.Sorted(maps.Keys(rows[0].Returns))
	if len(columns) == 0 {
		return
	}
	fmt.Fprintf(b, "\nMean error in winds that came back, m; medians of all seeds.\n\n| method | %s |\n|---|%s\n",
		strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
	for _, r := range rows {
		fmt.Fprintf(b, "| %s |", r.Name)
		for _, c := range columns {
			fmt.Fprintf(b, " %s |", metres(r.Returns[c]))
		}
		b.WriteString("\n")
	}
}
