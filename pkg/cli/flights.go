package cli

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"vnd/pkg/bridge/flightlog"
	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/preflight"
	"vnd/pkg/flight/reference"
	"vnd/pkg/learning/task"
	"vnd/pkg/learning/train"
	"vnd/pkg/ros2/bag"
	"vnd/pkg/ros2/bag/metadata"
)

// Airframe is a parameter file that says what the vehicle can do.
type Airframe struct {
	MaxRate float64 `param:"max_rate" default:"20.0" min:"0.1" max:"200" unit:"rad/s" doc:"largest body rate that is commanded; recorded rates beyond it are refused"`
	quad.Limits
	Guard    guard.Config       `param:"guard" doc:"the geofence, and what else the guard allows"`
	Response preflight.Response `param:"response" doc:"how it follows commands, as vnd doctor identifies it from a hover"`
}

// shape has the nominal quadrotors of a training respond about as the airframe was found to, where the configuration
// does not say how they do.
func (a *Airframe) shape(n *train.Nominal) {
	var said train.Nominal
	param.Default(&said)
	r := &a.Response
	if *n != said || !r.Known() {
		return
	}
	const spread, mostLag, mostDelay = 0.3, 0.3, 4 // share; s; steps
	n.MinLag = (1 - spread) * min(r.ThrustLag, r.RateLag)
	n.MaxLag = min(mostLag, (1+spread)*max(r.ThrustLag, r.RateLag))
	n.MaxDelay = min(mostDelay, (1+spread)*max(r.ThrustDelay, r.RateDelay)/n.Dt)
	n.Gain = min(0.5, max(n.Gain, math.Abs(r.ThrustGain-1)))
}

// allows refuses a reference that leaves the geofence.
func (a *Airframe) allows(name string, r reference.Reference) error {
	corner := func(x []float64) (v so3.Vec3, err error) {
		if len(x) != 3 {
			return v, fmt.Errorf("parameter guard.fence_min or guard.fence_max has %d numbers, expected x, y, z",
				len(x))
		}
		return so3.Vec3{X: x[0], Y: x[1], Z: x[2]}, nil
	}
	lo, err := corner(a.Guard.FenceMin)
	if err != nil {
		return err
	}
	hi, err := corner(a.Guard.FenceMax)
	if err != nil {
		return err
	}
	if err := reference.Check(r, lo, hi); err != nil {
		return fmt.Errorf("%s: %w (parameters guard.fence_min, guard.fence_max of the airframe)", name, err)
	}
	return nil
}

// path is the reference of a task, inside the geofence: that of a file, or the
// default; nil for a landing, which each flight has for itself.
func (a *Airframe) path(name, file string) (r reference.Reference, err error) {
	if file != "" {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if r, err = reference.Parse(file, data); err != nil {
			return nil, err
		}
		return r, a.allows(file, r)
	}
	if name == task.Land {
		return nil, nil
	}
	if r, err = reference.OfTask(name); err != nil {
		return nil, fmt.Errorf("--task %s: expected %s, %s, %s or %s", name, task.Hover, task.Track, task.Land,
			task.Features)
	}
	return r, a.allows("--task "+name, r)
}

// airframeNode is the node name of an airframe's block in a parameter file.
const airframeNode = "airframe"

// assembleNode is the node name of the block of a parameter file that says how bags become flights.
const assembleNode = "assemble"

// recordings says how flights are to be read.
type recordings struct {
	dt       float64 // s; 0 is the configuration's
	window   int     // rows of context
	config   string  // parameter file, or empty
	airframe string  // parameter file, or empty
}

// options turns r into those of assemble.
func (r recordings) options() (flightlog.Options, error) {
	o := flightlog.DefaultOptions()
	if r.config != "" {
		if err := param.Load(r.config, assembleNode, &o.Config); err != nil {
			return o, err
		}
	}
	if r.dt > 0 {
		o.Delta = r.dt
	}
	o.Window = r.window
	if r.airframe != "" {
		var a Airframe
		param.Default(&a)
		if err := param.Load(r.airframe, airframeNode, &a); err != nil {
			return o, err
		}
		o.Limits.Rate = a.MaxRate
	}
	return o, nil
}

// read reads flight CSVs and bags, and all those in folders, in the order given and by name within a folder. A bag
// may hold several flights.
func (c *console) read(inputs []string, o flightlog.Options) ([]quad.Flight, error) {
	files, err := expand(inputs)
	if err != nil {
		return nil, err
	}
	var recorded []quad.Flight
	for _, file := range files {
		if err := c.ctx.Err(); err != nil {
			return nil, err
		}
		f, err := c.readOne(file, o)
		if err != nil {
			return nil, err
		}
		recorded = append(recorded, f)
	}
	distinguish(recorded, files)
	var flights []quad.Flight
	for i, f := range recorded {
		if holdsBag(files[i]) {
			flights = append(flights, flightlog.Split(f, o.FlightGap)...)
		} else {
			flights = append(flights, f)
		}
	}
	return flights, nil
}

// readOne reads a flight CSV or a bag.
func (c *console) readOne(path string, o flightlog.Options) (quad.Flight, error) {
	if _, err := os.Stat(path); err != nil {
		return quad.Flight{}, err
	}
	read := flightlog.ReadCSV
	if holdsBag(path) {
		read = flightlog.ReadBag
	}
	f, warnings, err := read(path, o)
	if err != nil {
		return quad.Flight{}, err
	}
	for _, w := range warnings {
		c.warn(w.String())
	}
	return f, nil
}

// distinguish names flights of the same name, out of several folders, by as much of their paths as tells them apart:
// splits and digests go by names.
func distinguish(flights []quad.Flight, files []string) {
	same := map[string][]int{}
	for i, f := range flights {
		same[f.Name] = append(same[f.Name], i)
	}
	for _, group := range same {
		names := map[string]bool{}
		for elements := 1; len(group) > 1 && len(names) < len(group); elements++ {
			clear(names)
			for _, i := range group {
				flights[i].Name = ending(files[i], elements)
				names[flights[i].Name] = true
			}
		}
	}
}

// ending returns the last elements of a file's whole path, with slashes.
func ending(file string, elements int) string {
	if abs, err := filepath.Abs(file); err == nil {
		file = abs
	}
	parts := strings.Split(filepath.ToSlash(file), "/")
	return strings.Join(parts[max(0, len(parts)-elements):], "/")
}

// expand replaces folders, unless they are bags, by the CSV files and bags in them. What comes twice would count twice,
// and is refused.
func expand(inputs []string) ([]string, error) {
	var files []string
	for _, input := range inputs {
		input = bag.Root(input)
		info, err := os.Stat(input)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() || isBag(input, true) {
			files = append(files, input)
			continue
		}
		entries, err := os.ReadDir(input)
		if err != nil {
			return nil, err
		}
		before := len(files)
		for _, e := range entries {
			path := filepath.Join(input, e.Name())
			if !e.IsDir() && strings.EqualFold(filepath.Ext(path), ".csv") || e.IsDir() && isBag(path, true) {
				files = append(files, path)
			}
		}
		if len(files) == before {
			return nil, fmt.Errorf("%s: no flight CSV and no bag in this folder", input)
		}
	}
	seen := map[string]bool{}
	for _, f := range files {
		abs, err := filepath.Abs(f)
		if err != nil {
			return nil, err
		}
		if seen[abs] {
			return nil, fmt.Errorf("%s: given twice", f)
		}
		seen[abs] = true
	}
	return files, nil
}

// holdsBag tells bags from CSVs: folders and storage files by name, other files by content.
func holdsBag(path string) bool {
	info, err := os.Stat(path)
	return err == nil && (isBag(path, info.IsDir()) || bag.IsFile(path))
}

// isBag tells rosbag2 folders and their storage files by names alone.
func isBag(path string, dir bool) bool {
	if !dir {
		end := filepath.Ext(strings.TrimSuffix(path, ".zstd"))
		return end == ".mcap" || end == ".db3"
	}
	entries, err := os.ReadDir(path)
	return err == nil && slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		return !e.IsDir() && (isBag(e.Name(), false) || e.Name() == metadata.FileName)
	})
}

// seconds is how long the flights are.
func seconds(flights []quad.Flight, dt float64) float64 {
	return float64(rows(flights)) * dt
}

func rows(flights []quad.Flight) (n int) {
	for _, f := range flights {
		for _, s := range f.Segments {
			n += len(s)
		}
	}
	return n
}
