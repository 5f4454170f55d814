package sim

import (
	"slices"
	"strings"

	"vnd/pkg/core/so3"
)

// Conditions are the rows of a table: what is hidden from the robot and may change while it flies. Each list has one
// element per name, or none where the column has its default everywhere. Without names there is one condition,
// "default".
type Conditions struct {
	Name         []string  `param:"name" default:"" doc:"names; a flight without a schedule stays in the first"`
	WindX        []float64 `param:"wind_x" default:"" min:"-30" max:"30" unit:"m/s²" doc:"wind along x as a constant acceleration in the world, the paper's model (0)"`
	WindY        []float64 `param:"wind_y" default:"" min:"-30" max:"30" unit:"m/s²" doc:"acceleration by the wind along y (0)"`
	WindZ        []float64 `param:"wind_z" default:"" min:"-30" max:"30" unit:"m/s²" doc:"acceleration by the wind along z (0)"`
	Gusts        []float64 `param:"gusts" default:"" min:"0" max:"10" doc:"factor on the air of gusts and their mean wind (1)"`
	Fans         []float64 `param:"fans" default:"" min:"0" max:"10" doc:"factor on the air of the fans (1)"`
	Downwash     []float64 `param:"downwash" default:"" min:"0" max:"10" doc:"factor on the air below a second vehicle (1)"`
	Fan          []int     `param:"fan" default:"" min:"0" max:"1000" doc:"the only fan that blows, counted from 1 in fans.x, 0 all of them (0)"`
	Payload      []float64 `param:"payload" default:"" min:"0" max:"100" unit:"kg" doc:"mass of a payload (0)"`
	PayloadX     []float64 `param:"payload_x" default:"" min:"-5" max:"5" unit:"m" doc:"place of the payload in the body (0)"`
	PayloadY     []float64 `param:"payload_y" default:"" min:"-5" max:"5" unit:"m" doc:"place of the payload in the body (0)"`
	PayloadZ     []float64 `param:"payload_z" default:"" min:"-5" max:"5" unit:"m" doc:"place of the payload in the body (0)"`
	Cable        []float64 `param:"cable" default:"" min:"0" max:"100" unit:"m" doc:"length of a cable on which the payload hangs from its place in the body; 0: it is fixed there (0)"`
	Charge       []float64 `param:"charge" default:"" min:"-1" max:"1" doc:"charge of the battery that is put in as the condition sets in, as a share; -1 keeps the one that is there (-1)"`
	LinkDelay    []float64 `param:"link_delay" default:"" min:"0" max:"0.2" unit:"s" doc:"added to link.delay, for commands from then on (0)"`
	CutRotor     []int     `param:"cut_rotor" default:"" min:"0" max:"4" doc:"whose propeller is cut: 1 front right, 2 rear left, 3 front left, 4 rear right, 0 none (0)"`
	CutAlso      []int     `param:"cut_also" default:"" min:"0" max:"4" doc:"a second one that is cut as much, 0 none (0)"`
	CutThrust    []float64 `param:"cut_thrust" default:"" min:"0" max:"1" doc:"share of its thrust coefficient that is left (1)"`
	CutTorque    []float64 `param:"cut_torque" default:"" min:"0" max:"1" doc:"share of its torque coefficient that is left (1)"`
	CutImbalance []float64 `param:"cut_imbalance" default:"" min:"0" max:"0.001" unit:"kg m" doc:"imbalance of the cut propeller: its mass times the distance of its centre from the axis (0)"`
}

// condition is one row.
type condition struct {
	name        string
	wind        so3.Vec3 // m/s², world
	gusts, fans float64  // factors
	fan         int      // the only one that blows, from 1; 0 all
	payload     payload
	charge      float64 // −1 keeps
	linkDelay   float64 // s, added to the Link's
	cut         cut
	downwash    float64 // factor
}

// column is one list with its default.
type column struct {
	name  string
	list  []float64
	other float64
}

func (c *Conditions) columns() []column {
	return []column{
		{"wind_x", c.WindX, 0}, {"wind_y", c.WindY, 0}, {"wind_z", c.WindZ, 0}, {"gusts", c.Gusts, 1},
		{"fans", c.Fans, 1},
		{"payload", c.Payload, 0}, {"payload_x", c.PayloadX, 0}, {"payload_y", c.PayloadY, 0},
		{"payload_z", c.PayloadZ, 0}, {"cable", c.Cable, 0}, {"downwash", c.Downwash, 1},
		{"charge", c.Charge, -1}, {"link_delay", c.LinkDelay, 0}, {"cut_thrust", c.CutThrust, 1},
		{"cut_torque", c.CutTorque, 1}, {"cut_imbalance", c.CutImbalance, 0},
	}
}

// WindAlone reports whether condition i is calm air, or a wind, and nothing besides.
func (c *Conditions) WindAlone(i int) bool {
	for _, col := range c.columns() {
		if !strings.HasPrefix(col.name, "wind_") && i < len(col.list) && col.list[i] != col.other {
			return false
		}
	}
	for _, list := range [][]int{c.Fan, c.CutRotor, c.CutAlso} {
		if i < len(list) && list[i] != 0 {
			return false
		}
	}
	return true
}

func (c *Conditions) check() error {
	for i, n := range c.Name {
		if n == "" {
			return faulty("conditions.name", "element %d is empty, expected a name", i)
		}
		if slices.Contains(c.Name[:i], n) {
			return faulty("conditions.name", "a second %q, expected each name once", n)
		}
	}
	for _, col := range c.columns() {
		if err := c.each(col.name, len(col.list)); err != nil {
			return err
		}
	}
	for i, x := range c.Charge {
		if x < 0 && x != -1 {
			return faulty("conditions.charge", "element %d is %v, expected a share 0 … 1, or -1.0 to keep the battery",
				i, x)
		}
	}
	if err := c.each("fan", len(c.Fan)); err != nil {
		return err
	}
	for i, x := range c.CutAlso {
		if x > 0 && (i >= len(c.CutRotor) || c.CutRotor[i] == 0 || c.CutRotor[i] == x) {
			return faulty("conditions.cut_also", "element %d is %d, expected a rotor beside another one of "+
				"conditions.cut_rotor, or 0", i, x)
		}
	}
	if err := c.each("cut_also", len(c.CutAlso)); err != nil {
		return err
	}
	return c.each("cut_rotor", len(c.CutRotor))
}

// each checks the length of a column.
func (c *Conditions) each(name string, n int) error {
	if n == 0 || n == len(c.Name) {
		return nil
	}
	return faulty("conditions."+name, "%d elements, expected one for each of the %d of conditions.name", n, len(c.Name))
}

// rows returns the table; there is at least one row.
func (c *Conditions) rows() []condition {
	names := c.Name
	if len(names) == 0 {
		names = []string{"default"}
	}
	rows := make([]condition, len(names))
	for i, n := range names {
		x := map[string]float64{}
		for _, col := range c.columns() {
			x[col.name] = col.other
			if len(col.list) > 0 {
				x[col.name] = col.list[i]
			}
		}
		one := func(list []int) int {
			if len(list) == 0 {
				return 0
			}
			return list[i]
		}
		rotor, also, fan := one(c.CutRotor), one(c.CutAlso), one(c.Fan)
		rows[i] = condition{
			name: n, wind: so3.Vec3{X: x["wind_x"], Y: x["wind_y"], Z: x["wind_z"]},
			gusts: x["gusts"], fans: x["fans"], fan: fan, charge: x["charge"], linkDelay: x["link_delay"],
			payload: payload{x["payload"], so3.Vec3{X: x["payload_x"], Y: x["payload_y"], Z: x["payload_z"]},
				x["cable"]},
			cut:      cut{rotor, also, x["cut_thrust"], x["cut_torque"], x["cut_imbalance"]},
			downwash: x["downwash"],
		}
	}
	return rows
}
