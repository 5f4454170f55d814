package logs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"vnd/pkg/bridge"
	"vnd/pkg/bridge/logs/record"
	"vnd/pkg/bridge/logs/table"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// columns are those of a table that make a channel.
type columns struct {
	Columns []string `yaml:"columns"`
	Unit    string   `yaml:"unit"`
	Frame   string   `yaml:"frame"`
	Low     float64  `yaml:"low"`  // of motors and thrust: the number that is 0
	High    float64  `yaml:"high"` // and the one that is 1
}

// Mapping says which columns of a table are channels, in which units and frames.
type Mapping struct {
	Separator string  `yaml:"separator"`
	Time      columns `yaml:"time"`
	Position  columns `yaml:"position"`
	Velocity  columns `yaml:"velocity"`
	Attitude  columns `yaml:"attitude"`
	Rates     columns `yaml:"rates"`
	Motors    columns `yaml:"motors"`
	Battery   columns `yaml:"battery"`
	Thrust    columns `yaml:"thrust"`
	Commands  columns `yaml:"commands"`
	Flying    columns `yaml:"flying"`
}

// Table is the Kind of a log that a mapping reads.
const Table = "table"

// own is the mapping of the CSV that an import writes.
var own = Mapping{
	Time:     columns{Columns: []string{"t"}},
	Position: columns{Columns: []string{"px", "py", "pz"}},
	Velocity: columns{Columns: []string{"vx", "vy", "vz"}},
	Attitude: columns{Columns: []string{"qw", "qx", "qy", "qz"}},
	Rates:    columns{Columns: []string{"wx", "wy", "wz"}},
	Motors:   columns{Columns: []string{"m1", "m2", "m3", "m4"}},
	Battery:  columns{Columns: []string{"vbat"}},
}

// fullThrust is the thrust of a full throttle in flightCSV, over that of a hover.
const fullThrust = 100

// flightCSV is the mapping of a flight CSV, whose thrust and rates are commands.
var flightCSV = Mapping{Time: own.Time, Position: own.Position, Velocity: own.Velocity, Attitude: own.Attitude,
	Thrust: columns{Columns: []string{"thrust"}, High: fullThrust * quad.Gravity}, Commands: own.Rates}

// known returns the mapping of a table that vnd writes, by its first line, or nil.
func known(head []byte) *Mapping {
	switch {
	case flightCSV.has(head) && !(&Mapping{Motors: own.Motors}).has(head):
		return &flightCSV
	case own.has(head):
		return &own
	}
	return nil
}

// inWords takes our types out of errors of YAML.
var inWords = strings.NewReplacer("yaml: unmarshal errors: ", "", "type logs.Mapping", "a mapping", "logs.Mapping",
	"a mapping", "type logs.columns", "a channel", "logs.columns", "columns, unit and frame of a channel")

// ReadMapping reads the YAML file of a mapping.
func ReadMapping(path string) (*Mapping, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m, err := ParseMapping(text)
	if err != nil {
		text := inWords.Replace(strings.Join(strings.Fields(err.Error()), " "))
		return nil, fmt.Errorf("%s: %s", path, text)
	}
	return m, nil
}

// ParseMapping takes in a mapping and refuses names, units and frames that it does not know.
func ParseMapping(text []byte) (*Mapping, error) {
	m := &Mapping{}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(m); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(m.Time.Columns) != 1 {
		return nil, fmt.Errorf("time has %d columns, expected 1", len(m.Time.Columns))
	}
	_, err := m.mappings()
	return m, err
}

// unit returns the factor that a unit has among those of a channel; the first is the default.
func (c *columns) unit(channel string, units ...any) (float64, error) {
	var names []string
	for i := 0; i < len(units); i += 2 {
		if name := units[i].(string); name == c.Unit || c.Unit == "" {
			return units[i+1].(float64), nil
		}
		names = append(names, units[i].(string))
	}
	return 0, fmt.Errorf("%s has the unit %.24q, expected one of %s", channel, c.Unit, strings.Join(names, ", "))
}

// frame returns whether the second of two frames is meant; the first is the default.
func (c *columns) frame(channel, first, second string) (bool, error) {
	switch c.Frame {
	case "", first:
		return false, nil
	case second:
		return true, nil
	}
	return false, fmt.Errorf("%s has the frame %.24q, expected %s or %s", channel, c.Frame, first, second)
}

// mappings are those of the channels that are given.
func (m *Mapping) mappings() (all []mapping, err error) {
	world := func(c *columns, to Channel, units ...any) error {
		factor, err := c.unit(to.String(), units...)
		if err != nil {
			return err
		}
		ned, err := c.frame(to.String(), "enu", "ned")
		all = append(all, mapping{to, table.Topic, c.Columns, vector(factor, ned, bridge.SwapWorld)})
		return err
	}
	body := func(c *columns, to Channel) error {
		factor, err := c.unit(to.String(), "rad/s", 1., "deg/s", 1/degrees)
		if err != nil {
			return err
		}
		frd, err := c.frame(to.String(), "flu", "frd")
		all = append(all, mapping{to, table.Topic, c.Columns, vector(factor, frd, bridge.SwapBody)})
		return err
	}
	share := func(c *columns, to Channel) error {
		low, high, err := c.span(to.String())
		all = append(all, mapping{to, table.Topic, c.Columns, shares(low, high)})
		return err
	}
	for _, x := range []struct {
		c     *columns
		width int
		add   func() error
	}{
		{&m.Position, 3, func() error { return world(&m.Position, Position, "m", 1., "mm", 1e-3, "cm", 1e-2) }},
		{&m.Velocity, 3, func() error { return world(&m.Velocity, Velocity, "m/s", 1., "mm/s", 1e-3, "cm/s", 1e-2) }},
		{&m.Attitude, 0, func() error { return m.attitude(&all) }},
		{&m.Rates, 3, func() error { return body(&m.Rates, Rates) }},
		{&m.Commands, 3, func() error { return body(&m.Commands, Commands) }},
		{&m.Motors, 4, func() error { return share(&m.Motors, Motors) }},
		{&m.Thrust, 1, func() error { return share(&m.Thrust, Thrust) }},
		{&m.Flying, 1, func() error { return share(&m.Flying, Flying) }},
		{&m.Battery, 1, func() error {
			factor, err := m.Battery.unit("battery", "V", 1., "mV", 1e-3)
			all = append(all, mapping{Battery, table.Topic, m.Battery.Columns, scaled(factor)})
			return err
		}},
	} {
		n := len(x.c.Columns)
		if n == 0 {
			continue
		}
		if n != x.width && x.width > 0 {
			return nil, fmt.Errorf("%v: %d columns, expected %d", x.c.Columns, n, x.width)
		}
		if err := x.add(); err != nil {
			return nil, err
		}
	}
	_, err = m.Time.unit("time", "s", 1., "ms", 1e-3, "us", 1e-6, "ns", 1e-9)
	return all, err
}

// attitude is a quaternion, w first, or roll, pitch and yaw.
func (m *Mapping) attitude(all *[]mapping) error {
	c := &m.Attitude
	aerospace, err := c.frame("attitude", "enu-flu", "ned-frd")
	if err != nil {
		return err
	}
	turn := func(q so3.Quat, out []float64) bool {
		if aerospace {
			q = bridge.SwapAttitude(q)
		}
		n := q.Norm()
		return copy(out, fields(q.Normalize())) == 4 && n > 0.9 && n < 1.1
	}
	switch len(c.Columns) {
	case 4:
		if c.Unit != "" {
			return fmt.Errorf("attitude is a quaternion, expected no unit")
		}
		*all = append(*all, mapping{Attitude, table.Topic, c.Columns, func(in, out []float64) bool {
			return turn(so3.Quat{W: in[0], X: in[1], Y: in[2], Z: in[3]}, out)
		}})
	case 3:
		factor, err := c.unit("attitude", "rad", 1., "deg", 1/degrees)
		if err != nil {
			return err
		}
		*all = append(*all, mapping{Attitude, table.Topic, c.Columns, func(in, out []float64) bool {
			return turn(so3.FromEuler(in[0]*factor, in[1]*factor, in[2]*factor), out)
		}})
	default:
		return fmt.Errorf("attitude has %d columns, expected w, x, y, z or roll, pitch, yaw", len(c.Columns))
	}
	return nil
}

// span is what becomes 0 and 1.
func (c *columns) span(channel string) (low, high float64, err error) {
	if c.Low != 0 || c.High != 0 {
		if !(c.High > c.Low) || c.Unit != "" {
			return 0, 0, fmt.Errorf("%s has low %g and high %g, expected low < high and no unit", channel, c.Low,
				c.High)
		}
		return c.Low, c.High, nil
	}
	high, err = c.unit(channel, "share", 1., "percent", 100., "pwm16", 65535., "us", 2000.)
	if c.Unit == "us" {
		low = 1000
	}
	return low, high, err
}

func shares(low, high float64) func(in, out []float64) bool {
	return func(in, out []float64) bool {
		for i, x := range in {
			out[i] = (x - low) / (high - low)
		}
		return true
	}
}

func vector(factor float64, swapped bool, swap func(so3.Vec3) so3.Vec3) func(in, out []float64) bool {
	return func(in, out []float64) bool {
		v := vec(in).Scale(factor)
		if swapped {
			v = swap(v)
		}
		return put(out, v)
	}
}

// format is that of tables with this mapping.
func (m *Mapping) format() (*format, error) {
	all, err := m.mappings()
	if err != nil {
		return nil, err
	}
	unit, err := m.Time.unit("time", "s", 1., "ms", 1e-3, "us", 1e-6, "ns", 1e-9)
	if err != nil {
		return nil, err
	}
	layout := table.Layout{Separator: m.Separator, Time: m.Time.Columns[0], Unit: unit}
	if layout.Separator == "" {
		layout.Separator = ","
	}
	return &format{kind: Table, fields: all,
		open: func(name string, r io.Reader, _ func(string) bool) (record.Reader, error) {
			return table.NewReader(name, r, layout)
		},
		finish: func(l *Log, c *collector) error {
			if m == &flightCSV {
				l.Throttle.Hover, l.HoverOf = 1./fullThrust, "thrust in m/s²"
			}
			return c.complete(m)
		}}, nil
}

// has reports whether a table's first line has the columns of the state, of motors and of thrust that m names.
func (m *Mapping) has(head []byte) bool {
	line, _, _ := strings.Cut(strings.TrimPrefix(string(head), "\ufeff"), "\n")
	names := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(", \"\r", r) })
	motors := m.Motors
	if m == &own {
		motors = columns{} // a state alone is enough
	}
	for _, c := range []columns{m.Time, m.Position, m.Attitude, motors, m.Thrust} {
		for _, name := range c.Columns {
			if !slices.Contains(names, name) {
				return false
			}
		}
	}
	return true
}

// complete refuses a mapping of columns that the table does not have.
func (c *collector) complete(m *Mapping) error {
	for i, x := range c.mappings {
		if len(c.all[i]) > 0 || m == &own {
			continue
		}
		for topic := range c.bound {
			for _, name := range x.fields {
				if !slices.Contains(topic.Fields, name) {
					return fmt.Errorf("no column %.40q for %s", name, x.to)
				}
			}
		}
	}
	return nil
}
