package export

import (
	"bytes"
	_ "embed"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"text/template"
	"unicode"
)

//go:embed header.tmpl
var headerText string

//go:embed source.tmpl
var sourceText string

var functions = template.FuncMap{"float": func(v float64) string { return float(float32(v)) }}

var (
	header = template.Must(template.New("header").Funcs(functions).Parse(headerText))
	source = template.Must(template.New("source").Funcs(functions).Parse(sourceText))
)

// array is a constant of the source.
type array struct {
	Type, Name, Numbers string
	Size                int
}

// step is a layer in the source.
type step struct {
	In, Out   int
	Arguments string // its constants
	From, To  string
	Film      *step
}

// file is what the templates are filled with.
type file struct {
	Name, Guard, ID, Robot, Task, Kind string
	Dt                                 float64
	Int8                               bool
	Arrays                             []array
	Widest                             int // of what lies between two layers
	Policy                             *policyC
	Encoder                            *encoderC
	Model                              *modelC
}

type policyC struct {
	Channels      []string
	Latent        int
	Places        bool // it sees positions, not a camera's features
	Preview, Past int
	PreviewStep   float64
	Command       string  // what its outputs are
	Rates         bool    // it sees body rates
	Push, Lag     float64 // units of the push and the lag that it sees, m/s² and s; 0: it sees none
	Hover         string
	Hidden        []step
	Head          step
}

type encoderC struct {
	Rows, Features, Latent     int
	Channels                   []string
	GRU                        bool
	First, Input, Hidden, Head step
}

type modelC struct {
	Inputs, Outputs, Latent int
	Channels                []string
	Tangents                string
	Joins                   bool
	Film                    int // greatest number of γ and β
	Members                 []memberC
}

type memberC struct {
	Layers []step
	Head   step
}

var identifier = regexp.MustCompile(`^[a-z][a-z0-9_]{0,30}$`)

// C is parts as a header and a source of C99, whose functions begin with name. int8 rounds weights to a byte each, with
// a scale for each output; numbers between layers stay float32.
func (n *Networks) C(name string, parts []string, int8 bool) (h, c []byte, err error) {
	if !identifier.MatchString(name) {
		return nil, nil, fmt.Errorf("name %.40q, expected lower case letters, digits and underscores", name)
	}
	r, err := n.only(parts)
	if err != nil {
		return nil, nil, err
	}
	f := &file{Name: name, Guard: strings.ToUpper(name), ID: n.ID, Robot: harmless(n.Robot), Task: harmless(n.Task),
		Dt: n.Dt, Int8: int8, Kind: "Weights are float32."}
	if int8 {
		f.Kind = "Weights are int8, one scale for each output."
	}
	if r.policy != nil {
		f.policy(r.policy)
	}
	if r.encoder != nil {
		f.encoder(r.encoder)
	}
	if r.model != nil {
		f.model(r.model)
	}
	var head, body bytes.Buffer
	if err := header.Execute(&head, f); err != nil {
		return nil, nil, err
	}
	if err := source.Execute(&body, f); err != nil {
		return nil, nil, err
	}
	return head.Bytes(), body.Bytes(), nil
}

// harmless is a text for a comment of C, which it does not end: who made a bundle may name its task anything.
func harmless(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" ,._-", r) {
			return r
		}
		return '_'
	}, text)
}

func (f *file) policy(p *policyNet) {
	o := &p.observation
	f.norm(Policy, &p.norm)
	f.floats("policy_middle", p.middle)
	f.floats("policy_half", p.half)
	c := &policyC{Channels: p.channels, Latent: p.latent, Places: o.Camera.Size() == 0, Preview: o.PreviewPoints,
		Rates: o.BodyRates, Push: o.Push, Lag: o.Lag, Past: o.PastActions,
		Hover: "{" + strings.TrimSuffix(numbers(p.hover[:], float), ",\n") + "}"}
	what, names := p.command()
	c.Command = what + ": " + list(names)
	if o.PreviewPoints > 1 {
		c.PreviewStep = o.Look(1)
	}
	last := len(p.layers) - 1
	c.Hidden = f.chain(p.layers[:last])
	c.Head = f.layer(&p.layers[last], last)
	f.Policy = c
}

func (f *file) encoder(e *encoderNet) {
	f.norm(Encoder, &e.norm)
	c := &encoderC{Rows: e.rows, Features: e.features, Latent: e.latent, Channels: e.channels, GRU: e.gru,
		First: f.layer(&e.first, 0), Head: f.layer(&e.head, 0)}
	if e.gru {
		c.Input = f.layer(&e.input, 0)
	}
	c.Hidden = f.layer(&e.hidden, 0)
	f.Encoder = c
}

func (f *file) model(m *modelNet) {
	f.norm(Model, &m.norm)
	unit := make([]float32, m.outputs)
	for j := range unit {
		unit[j] = m.output[j] / float32(len(m.members))
	}
	f.floats("model_unit", unit)
	c := &modelC{Inputs: m.inputs, Outputs: m.outputs, Latent: m.latent, Channels: m.channels,
		Tangents: list(m.tangent), Joins: m.joins}
	for k := range m.members {
		r := &m.members[k]
		x := memberC{Layers: f.chain(append([]dense{r.in}, r.blocks...)), Head: f.layer(&r.head, len(r.blocks)+1)}
		for i := range r.film {
			film := f.layer(&r.film[i], 0)
			x.Layers[i+1].Film = &film
			c.Film = max(c.Film, film.Out)
		}
		c.Members = append(c.Members, x)
	}
	f.Model = c
}

// chain is layers one after the other, from net_x on.
func (f *file) chain(layers []dense) (steps []step) {
	for i := range layers {
		steps = append(steps, f.layer(&layers[i], i))
	}
	return steps
}

// layer puts a layer's constants down. i is its place in a chain: buffers take turns.
func (f *file) layer(d *dense, i int) step {
	buffers := [2]string{"net_x", "net_y"}
	name := strings.ReplaceAll(d.name, ".", "_")
	f.Widest = max(f.Widest, d.in, d.out)
	s := step{In: d.in, Out: d.out, From: buffers[i%2], To: buffers[(i+1)%2]}
	if f.Int8 {
		w, scale := round(d)
		f.Arrays = append(f.Arrays, array{"int8_t", name + "_w", numbers(w, decimal), len(w)})
		f.floats(name+"_s", scale)
		s.Arguments = fmt.Sprintf("%s_w, %[1]s_s, %[1]s_b", name)
	} else {
		f.floats(name+"_w", d.w)
		s.Arguments = fmt.Sprintf("%s_w, %[1]s_b", name)
	}
	f.floats(name+"_b", d.b)
	return s
}

func (f *file) norm(part string, n *norm) {
	f.Widest = max(f.Widest, len(n.mean))
	f.floats(part+"_mean", n.mean)
	f.floats(part+"_scale", n.scale)
}

func (f *file) floats(name string, v []float32) {
	f.Arrays = append(f.Arrays, array{"float", name, numbers(v, float), len(v)})
}

// numbers are a few on each line.
func numbers[T any](v []T, format func(T) string) string {
	var b strings.Builder
	const each = 12
	for i, x := range v {
		b.WriteString(format(x))
		switch {
		case i == len(v)-1 || i%each == each-1:
			b.WriteString(",\n")
		default:
			b.WriteString(", ")
		}
	}
	return b.String()
}

// float is a constant of C that is read as the same number.
func float(v float32) string {
	s := strconv.FormatFloat(float64(v), 'g', -1, 32)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s + "f"
}

func decimal(v int8) string { return strconv.Itoa(int(v)) }

// round is weights in whole multiples of a scale for each output, −127 to 127.
func round(d *dense) (w []int8, scale []float32) {
	w, scale = make([]int8, len(d.w)), make([]float32, d.out)
	for j := range d.out {
		most := float32(0)
		for i := range d.in {
			most = max(most, float32(math.Abs(float64(d.w[i*d.out+j]))))
		}
		if scale[j] = most / math.MaxInt8; scale[j] == 0 {
			continue
		}
		for i := range d.in {
			w[i*d.out+j] = int8(math.Round(float64(d.w[i*d.out+j] / scale[j])))
		}
	}
	return w, scale
}
