package cli

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"vnd/pkg/bridge/flightlog"
	"vnd/pkg/bridge/logs"
	"vnd/pkg/core/quad"
)

type importCommand struct {
	Log       []string `arg:"" optional:"" name:"log" help:"Logs of autopilots; after --csv, further flight CSVs."`
	CSV       []string `name:"csv" sep:"none" placeholder:"F.csv" help:"Flight CSV; further ones may follow it, or repeat the flag."`
	Out       string   `required:"" placeholder:"OUT" help:"Folder of the bag, new or empty; of a log also F.csv."`
	Storage   string   `enum:"mcap,sqlite3" default:"mcap" help:"Storage of the bag: mcap or sqlite3."`
	Metadata  int      `enum:"8,5" default:"8" help:"Version of metadata.yaml, and of what goes with it: 8, or 5 for ROS 2 Humble."`
	Pose      bool     `help:"Write mocap/pose, without velocities, also where there are some; else that is only done where there are none."`
	Namespace string   `default:"quad" help:"Namespace of the topics."`
	As        string   `enum:"auto,motors,rates" default:"auto" help:"Commands in a log's CSV: auto, motors, rates."`
	logFlags
}

// logFlags say how a log of an autopilot is read.
type logFlags struct {
	Dt            *float64 `placeholder:"0.02" help:"Row to row of a flight, 0.002 to 0.05 s."`
	HoverThrottle float64  `placeholder:"SHARE" help:"Thrust that hovers, 0 to 1, if not the log's."`
	Mapping       string   `placeholder:"COLUMNS.yaml" help:"What the columns of a table are: units, frames."`
	State         string   `placeholder:"STATE" help:"Take the state from this log, table or flight CSV."`
	Motors        []int    `placeholder:"1,2,3,4" help:"Columns of a log's motors, from front right clockwise."`
}

// delta is the time from row to row, s.
func (f *logFlags) delta() float64 {
	if f.Dt == nil {
		return .02
	}
	return *f.Dt
}

// given names the first flag that says how a log is read, "" where none does.
func (f *logFlags) given() string {
	switch {
	case f.Dt != nil:
		return "--dt"
	case f.HoverThrottle != 0:
		return "--hover-throttle"
	case f.Mapping != "":
		return "--mapping"
	case f.State != "":
		return "--state"
	case len(f.Motors) > 0:
		return "--motors"
	}
	return ""
}

// read reads a log and takes in what the flags say of it.
func (f *logFlags) read(path string) (*logs.Log, error) {
	if dt := f.delta(); !(dt >= 0.002 && dt <= 0.05) {
		return nil, fmt.Errorf("--dt %g s, expected 0.002 to 0.05", dt)
	}
	if !(f.HoverThrottle >= 0 && f.HoverThrottle <= 1) {
		return nil, fmt.Errorf("--hover-throttle %g, expected 0 to 1", f.HoverThrottle)
	}
	o := logs.Options{Hover: f.HoverThrottle}
	if n := copy(o.Motors[:], f.Motors); n != len(f.Motors) || n != 0 && n != 4 {
		return nil, fmt.Errorf("--motors has %d columns, expected 4", len(f.Motors))
	}
	var m *logs.Mapping
	if f.Mapping != "" {
		var err error
		if m, err = logs.ReadMapping(f.Mapping); err != nil {
			return nil, err
		}
	}
	l, err := logs.Read(path, m)
	if err != nil {
		return nil, err
	}
	mapped := l.Kind == logs.Table
	if f.State != "" {
		state, err := logs.Read(f.State, m)
		if err != nil {
			return nil, err
		}
		mapped = mapped || state.Kind == logs.Table
		if err := l.Merge(state); err != nil {
			return nil, err
		}
	}
	if m != nil && !mapped {
		return nil, fmt.Errorf("--mapping: expected with a table, %s says by itself what it holds", path)
	}
	return l, l.Apply(o)
}

// importResult is what `vnd import` did.
type importResult struct {
	Out      string   `json:"out"`
	Storage  string   `json:"storage"` // csv, or that of the bag
	Flights  int      `json:"flights"`
	Rows     int      `json:"rows"`
	Odometry bool     `json:"odometry"` // mocap/odom, with velocities, instead of mocap/pose
	Motors   bool     `json:"motors"`   // motor commands instead of thrust and rates
	Warnings []string `json:"warnings"`
}

// Run implements `vnd import`.
func (i *importCommand) Run(c *console) error {
	if err := spare(i.Out, slices.Concat(i.CSV, i.Log, []string{i.State, i.Mapping})); err != nil {
		return err
	}
	switch {
	case strings.HasSuffix(strings.ToLower(i.Out), ".gz"):
		return fmt.Errorf("--out %s, expected F.csv or a folder: nothing is compressed here", i.Out)
	case len(i.CSV) > 0 && i.given() != "":
		return fmt.Errorf("%s: expected with a LOG, a flight CSV of --csv says by itself what it holds", i.given())
	case len(i.CSV) > 0:
		return i.flightCSVs(c)
	case len(i.Log) == 0:
		return errors.New("expected a LOG, or --csv F.csv")
	case strings.EqualFold(filepath.Ext(i.Out), ".csv"):
		return i.logToCSV(c)
	}
	return i.logsToBag(c)
}

// flightCSVs writes flight CSVs as a bag.
func (i *importCommand) flightCSVs(c *console) error {
	files, err := flightlog.Expand(append(i.CSV, i.Log...))
	if err != nil {
		return err
	}
	o, err := recordings{window: 1}.options()
	if err != nil {
		return err
	}
	moving := !i.Pose
	var flights []quad.Flight
	for _, file := range files {
		f, warnings, err := flightlog.ReadCSV(file, o)
		if err != nil {
			return err
		}
		for _, w := range warnings {
			c.warn(w.String())
		}
		has, err := flightlog.HasVelocity(file)
		if err != nil {
			return err
		}
		if !has && moving && len(files) > 1 {
			c.warn(file + ": no velocities: mocap/pose is written for all")
		}
		moving = moving && has
		flights = append(flights, f)
	}
	if len(flights) == 0 {
		return errors.New("no flight CSV")
	}
	return i.bag(c, flights, moving)
}

func (i *importCommand) bag(c *console, flights []quad.Flight, moving bool) error {
	if err := flightlog.WriteBag(i.Out, flights, flightlog.BagOptions{Storage: i.Storage, MetadataVersion: i.Metadata,
		Namespace: i.Namespace, Odometry: moving}); err != nil {
		return err
	}
	return c.show(&importResult{Out: i.Out, Storage: i.Storage, Flights: len(flights), Rows: rows(flights),
		Odometry: moving, Warnings: c.warnings})
}

// flight reads a log as a flight; what is doubtful in it is a warning.
func (i *importCommand) flight(c *console, path string) (*logs.Flight, error) {
	l, err := i.read(path)
	if err != nil {
		return nil, err
	}
	warnings, err := l.Ready(i.delta())
	for _, w := range warnings {
		c.warn(path + ": " + w)
	}
	if err != nil {
		return nil, err
	}
	f, err := l.Flight(i.delta())
	return &f, err
}

// logToCSV writes the CSV of one log.
func (i *importCommand) logToCSV(c *console) error {
	if len(i.Log) != 1 {
		return fmt.Errorf("%d logs for one CSV, expected 1", len(i.Log))
	}
	f, err := i.flight(c, i.Log[0])
	if err != nil {
		return err
	}
	motors := i.As == "motors" || i.As == "auto" && f.Motors
	switch {
	case motors && !f.Motors:
		return fmt.Errorf("%s: no motor commands, expected some for --as motors", i.Log[0])
	case !motors && !f.Commands:
		return fmt.Errorf("%s: no commands of thrust and rates, or no hover throttle, as --as rates expects", i.Log[0])
	case motors:
		err = logs.WriteMotorCSV(i.Out, f)
	default:
		err = flightlog.WriteCSV(i.Out, f.Quad(i.Log[0]), i.delta())
	}
	if err != nil {
		return err
	}
	return c.show(&importResult{Out: i.Out, Storage: "csv", Flights: 1, Rows: f.Rows(), Motors: motors,
		Warnings: c.warnings})
}

// logsToBag writes logs with commands of thrust and rates as a bag.
func (i *importCommand) logsToBag(c *console) error {
	var flights []quad.Flight
	for _, path := range i.Log {
		f, err := i.flight(c, path)
		if err != nil {
			return err
		}
		if !f.Commands || i.As == "motors" {
			return fmt.Errorf("%s: a bag has commands of thrust and rates, expected --out F.csv for motors", path)
		}
		flights = append(flights, f.Quad(strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))))
	}
	return i.bag(c, flights, !i.Pose)
}

// WriteText implements result.
func (i *importResult) WriteText(w io.Writer) error {
	content := "mocap/pose and command"
	switch {
	case i.Odometry:
		content = "mocap/odom and command"
	case i.Motors:
		content = "states and motor commands"
	case i.Storage == "csv":
		content = "states, thrust and rates"
	}
	_, err := fmt.Fprintf(w, "wrote %s (%s): %d flights, %d rows, %s\n", i.Out, i.Storage, i.Flights, i.Rows, content)
	return err
}
