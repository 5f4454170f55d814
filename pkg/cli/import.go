package cli

import (
	"errors"
	"fmt"
	"io"

	"vnd/pkg/bridge/flightlog"
	"vnd/pkg/core/quad"
)

type importCommand struct {
	CSV       []string `name:"csv" required:"" sep:"none" placeholder:"F.csv" help:"Flight CSV; further ones may follow it, or repeat the flag."`
	More      []string `arg:"" optional:"" name:"csv" help:"Further flight CSVs."`
	Out       string   `required:"" placeholder:"BAG" help:"Folder of the bag; it must not exist, or be empty."`
	Storage   string   `enum:"mcap,sqlite3" default:"mcap" help:"Storage of the bag: mcap or sqlite3."`
	Metadata  int      `enum:"8,5" default:"8" help:"Version of metadata.yaml, and of what goes with it: 8, or 5 for ROS 2 Humble."`
	Pose      bool     `help:"Write mocap/pose, without velocities, also where there are some; else that is only done where there are none."`
	Namespace string   `default:"quad" help:"Namespace of the topics."`
}

// importResult is what `vnd import` did.
type importResult struct {
	Out      string   `json:"out"`
	Storage  string   `json:"storage"`
	Flights  int      `json:"flights"`
	Rows     int      `json:"rows"`
	Odometry bool     `json:"odometry"` // mocap/odom, with velocities, instead of mocap/pose
	Warnings []string `json:"warnings"`
}

// Run implements `vnd import`.
func (i *importCommand) Run(c *console) error {
	files, err := flightlog.Expand(append(i.CSV, i.More...))
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
	if err := flightlog.WriteBag(i.Out, flights, flightlog.BagOptions{Storage: i.Storage, MetadataVersion: i.Metadata,
		Namespace: i.Namespace, Odometry: moving}); err != nil {
		return err
	}
	return c.show(&importResult{Out: i.Out, Storage: i.Storage, Flights: len(flights), Rows: rows(flights),
		Odometry: moving, Warnings: c.warnings})
}

// WriteText implements result.
func (i *importResult) WriteText(w io.Writer) error {
	poses := "mocap/pose"
	if i.Odometry {
		poses = "mocap/odom"
	}
	_, err := fmt.Fprintf(w, "wrote %s (%s): %d flights, %d rows, %s and command\n", i.Out, i.Storage, i.Flights,
		i.Rows, poses)
	return err
}
