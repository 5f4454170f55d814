package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"vnd/pkg/core/atomicfile"
	"vnd/pkg/sim/experiment"
	"vnd/pkg/viz/plot"
)

// tableFlags are of the table of opponents.
type tableFlags struct {
	Air        string  `placeholder:"W.yaml,…" help:"Worlds of a table of opponents, flown in place of all else."`
	References string  `default:"hover,eight_2.3,eight_4,eight_6,steps" placeholder:"NAMES" help:"Or race, landing."`
	Learn      bool    `name:"learn-references" help:"Learn on the moving paths of that table, too."`
	Flight     float64 `default:"30" help:"Length of a flight of that table, s."`
	Settle     float64 `default:"18" help:"Beginning of such a flight that is not measured, s."`
}

// table reads what the table of a study is flown in; nil where no air is named.
func (s *tableFlags) table() (t *experiment.Table, err error) {
	if s.Air == "" {
		return nil, nil
	}
	if !(s.Flight > s.Settle && s.Settle >= 0) {
		return nil, fmt.Errorf("--flight %g and --settle %g: expected a flight that is longer than its beginning",
			s.Flight, s.Settle)
	}
	t = &experiment.Table{Seconds: s.Flight, Settle: s.Settle}
	if t.Air, err = experiment.ReadAir(s.Air); err != nil {
		return nil, fmt.Errorf("--air: %w", err)
	}
	if t.References, err = experiment.References(s.References); err != nil {
		return nil, fmt.Errorf("--references: %w", err)
	}
	return t, nil
}

// learnReferences adds the figure-eights, the race, the steps and the landings of a table to what is learned.
func learnReferences(c *experiment.Campaign, t *experiment.Table) error {
	for _, r := range t.References {
		var task string
		switch r.Name {
		case "eight_4", "eight_6", "race", "steps":
			task = "track"
		case "landing":
			task = "land"
		default:
			continue
		}
		if err := c.AddTask(task, r.Path); err != nil {
			return err
		}
	}
	return nil
}

// writeLeftOut says which methods could not be measured, and why.
func writeLeftOut(b *strings.Builder, study *experiment.Study) {
	for _, why := range study.LeftOut {
		fmt.Fprintf(b, "%s\n\n", why)
	}
}

// writeTable writes the table of opponents: cells are medians of so many seeds or policies.
func writeTable(b *strings.Builder, rows []experiment.TableRow, of string) {
	cells := rows[0].Cells
	air, references := sidesOf(rows)
	fmt.Fprintf(b, "Mean position error, m; median of %s.\n", of)
	for _, reference := range references {
		fmt.Fprintf(b, "\n| %s | %s |\n|---|%s\n", reference, strings.Join(air, " | "),
			strings.Repeat("---|", len(air)))
		for _, r := range rows {
			fmt.Fprintf(b, "| %s |", r.Name)
			for j, c := range cells {
				if c.Reference == reference {
					fmt.Fprintf(b, " %s |", cellText(rows, r.Method, j))
				}
			}
			b.WriteString("\n")
		}
	}
	fmt.Fprintf(b, "\n| method | cells won of %d | crashed flights | a command takes, ms | ticks without a step |\n"+
		"|---|---|---|---|---|\n", len(cells))
	for _, r := range rows {
		unsolved := "–"
		if strings.Contains(r.Name, "NMPC") {
			unsolved = fmt.Sprintf("%.2f %%", 100*r.Unsolved)
		}
		fmt.Fprintf(b, "| %s | %d | %d | %.3f | %s |\n", r.Name, r.Won, r.Crashes, 1000*r.Tick, unsolved)
	}
	ours := []string{experiment.MethodOurs, experiment.MethodThere, experiment.MethodFirst, experiment.MethodBase}
	for i, r := range rows {
		if slices.Contains(ours[:2], r.Method) {
			writeAgainst(b, r, experiment.Compare(rows, i, ours...))
		}
	}
}

// sidesOf are the names of a table's columns and of its parts.
func sidesOf(rows []experiment.TableRow) (air, references []string) {
	for _, c := range rows[0].Cells {
		if !slices.Contains(air, c.Air) {
			air = append(air, c.Air)
		}
		if !slices.Contains(references, c.Reference) {
			references = append(references, c.Reference)
		}
	}
	return air, references
}

// cellText is a median, in bold where no other method but the oracle has a smaller one.
func cellText(rows []experiment.TableRow, method string, cell int) string {
	mine, least := 0., math.Inf(1)
	for _, r := range rows {
		if r.Method == method {
			mine = r.Cells[cell].Median
		}
		if r.Method != experiment.MethodOracle {
			least = min(least, r.Cells[cell].Median)
		}
	}
	if mine <= least && mine < math.MaxFloat64 {
		return "**" + metres(mine) + "**"
	}
	return metres(mine)
}

func writeAgainst(b *strings.Builder, r experiment.TableRow, a experiment.Against) {
	ratios := slices.Sorted(slices.Values(a.Ratios))
	if len(ratios) == 0 {
		return
	}
	worst := r.Cells[a.Worst]
	text := func(x float64) string {
		if math.IsInf(x, 1) {
			return "a crash"
		}
		return fmt.Sprintf("%.2f", x)
	}
	fmt.Fprintf(b, "\n%s ÷ best opponent: median %s, worst %s (%s, %s). Best, or within the best one's seeds, in %d "+
		"of the %d cells that anybody flies.\n", r.Name, text(experiment.Median(ratios)), text(ratios[len(ratios)-1]),
		worst.Air, worst.Reference, a.Equal, len(ratios))
}

// saveTable writes the table into the folder of results, with its numbers and a picture of each reference beside it.
func (s *studyCommand) saveTable(studies []*experiment.Study) (string, error) {
	var b strings.Builder
	writeLeftOut(&b, studies[0])
	rows := experiment.Tabulate(studies)
	writeTable(&b, rows, fmt.Sprintf("%d seeds", len(studies)))
	data, err := json.MarshalIndent(rows, "", " ")
	if err != nil {
		return "", err
	}
	file := filepath.Join(s.Out, "opponents.md")
	if err := writeText(filepath.Join(s.Out, "opponents.json"), string(data)+"\n"); err != nil {
		return "", err
	}
	_, references := sidesOf(rows)
	for _, r := range references {
		if err := s.drawReference(rows, r, len(studies)); err != nil {
			return "", err
		}
	}
	return file, writeText(file, b.String())
}

func writeText(file, text string) error {
	return atomicfile.WriteFile(file, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// farOff is the error at which a picture of the table ends, m: a crash is drawn there.
const farOff = 1.0

// drawReference draws the errors along a reference, by air.
func (s *studyCommand) drawReference(rows []experiment.TableRow, reference string, seeds int) error {
	air, _ := sidesOf(rows)
	for i := range air {
		air[i] = strings.ReplaceAll(air[i], "_", "\n")
	}
	var series []plot.Range
	for _, r := range rows {
		m := plot.Range{Name: r.Name}
		for _, c := range r.Cells {
			if c.Reference == reference {
				m.Median, m.Least, m.Most = append(m.Median, c.Median), append(m.Least, c.Least), append(m.Most, c.Most)
			}
		}
		series = append(series, m)
	}
	title := fmt.Sprintf("%s: mean position error by air; median and range of %d seeds", reference, seeds)
	return atomicfile.WriteFile(filepath.Join(s.Out, reference+".png"), func(w io.Writer) error {
		return plot.Ranges(w, title, "m; a crash is at the top", air, farOff, series)
	})
}
