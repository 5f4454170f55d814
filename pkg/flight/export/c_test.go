package export

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/policy"
	"vnd/pkg/robot/rotors"
	"vnd/pkg/vnd/bundle"
)

// compiled is a bundle's networks as a program that reads inputs and writes outputs, all float32.
func compiled(t *testing.T, b *bundle.Bundle, part string, int8 bool, call string) string {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		if cc, err = exec.LookPath("gcc"); err != nil {
			t.Skip("SKIPPED: no C compiler here")
		}
	}
	dir := t.TempDir()
	h, c, err := must(Of(b))(t).C("net", []string{part}, int8)
	if err != nil {
		t.Fatal(err)
	}
	main := "#include \"net.h\"\n#include <stdio.h>\n\nint main(void)\n{\n" + call + "\treturn 0;\n}\n"
	for name, text := range map[string][]byte{"net.h": h, "net.c": c, "main.c": []byte(main)} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	flags := []string{"-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wdouble-promotion", "-Wshadow"}
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command(cc, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	run(append(flags, "-c", "net.c", "-o", "net.o")...)
	needsLittle(t, filepath.Join(dir, "net.o"))
	run(append(flags, "main.c", "net.o", "-o", "net", "-lm")...)
	return filepath.Join(dir, "net")
}

// needsLittle holds an object to expf and tanhf, and what compilers make of loops.
func needsLittle(t *testing.T, object string) {
	t.Helper()
	out, err := exec.Command("nm", "-u", object).Output()
	if err != nil {
		t.Logf("nm: %v", err)
		return
	}
	allowed := []string{"expf", "tanhf", "memset", "memcpy", "memmove", "_GLOBAL_OFFSET_TABLE_"}
	for _, symbol := range regexp.MustCompile(`(?m)U (\S+)$`).FindAllStringSubmatch(string(out), -1) {
		if !slices.Contains(allowed, symbol[1]) {
			t.Errorf("the source needs %s", symbol[1])
		}
	}
}

// answer runs a program on inputs.
func answer(t *testing.T, program string, inputs []float32, outputs int) []float32 {
	t.Helper()
	var in, out bytes.Buffer
	if err := binary.Write(&in, binary.NativeEndian, inputs); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Stdin, cmd.Stdout = &in, &out
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	got := make([]float32, outputs)
	if err := binary.Read(&out, binary.NativeEndian, got); err != nil {
		t.Fatal(err)
	}
	return got
}

// orders of a part's inputs in a row.
var orders = map[string][]string{Policy: {"observation", "latent"}, Encoder: {"context"}, Model: {"inputs", "latent"}}

// answers has the compiled part of a bundle answer the inputs of x.
func answers(t *testing.T, b *bundle.Bundle, part string, int8 bool, x *io) []float32 {
	t.Helper()
	var sizes []int
	var inputs []float32
	for r := range x.rows {
		sizes = sizes[:0]
		for _, name := range orders[part] {
			n := len(x.inputs[name]) / x.rows
			inputs = append(inputs, x.inputs[name][r*n:][:n]...)
			sizes = append(sizes, n)
		}
	}
	width, out := len(inputs)/x.rows, len(x.want)/x.rows
	args := "x"
	if len(sizes) > 1 {
		args += fmt.Sprintf(", x + %d", sizes[0])
	}
	call := fmt.Sprintf("\tstatic float x[%d], y[%d];\n\twhile (fread(x, sizeof x, 1, stdin) == 1) {\n"+
		"\t\tnet_%s(%s, y);\n\t\tfwrite(y, sizeof y, 1, stdout);\n\t}\n", width, out, part, args)
	return answer(t, compiled(t, b, part, int8, call), inputs, len(x.want))
}

// The C source gives the numbers of our own code on a thousand inputs: to 1e-5 of the outputs' range in float32, and
// with int8 those of our own code with rounded weights.
func TestC(t *testing.T) {
	const rows = 1000
	for name, b := range cases(t) {
		for _, part := range must(Of(b))(t).Parts() {
			t.Run(name+"/"+part, func(t *testing.T) {
				x := reference(t, b, part, rows)
				e := x.worst(answers(t, b, part, false, x))
				if e > 1e-5 {
					t.Errorf("float32 is off by %.2g of the range", e)
				}
				small := must(Rounded(b))(t)
				y := reference(t, small, part, rows)
				y.inputs = x.inputs
				bytes := answers(t, b, part, true, y)
				f := y.worst(bytes)
				if f > 1e-5 {
					t.Errorf("int8 is off by %.2g of the range of its rounded weights", f)
				}
				t.Logf("float32 %.2g, int8 %.2g, rounding of weights %.2g of the range", e, f, x.worst(bytes))
			})
		}
	}
}

// A thousand ticks of the C controller are those of our own runner, also where the policy sees pushes.
func TestControllerInC(t *testing.T) {
	for _, unit := range []float64{0, 2} {
		for _, lag := range []float64{0, 0.04} {
			t.Run(fmt.Sprintf("pushes of %g, lags of %g", unit, lag), func(t *testing.T) { holdInC(t, unit, lag) })
		}
	}
}

// heeding is a bundle whose policy heeds pushes and lags in units, 0: none, and the policy.
func heeding(t *testing.T, push, lag float64, rng *rand.Rand) (*bundle.Bundle, *policy.Policy[float32]) {
	b := flown(t)
	p := must(must(policy.FromBundle(b))(t).WithMeasured(push, lag))(t)
	p.Steady = policy.Steady{Push: policy.Push{Rate: 20}} // the rest stays on our side
	for n := p.Observation.Size(); n > p.Observation.Size()-p.Observation.MeasuredSize(); n-- {
		for k := range p.Net.Hidden[0] { // which it heeds
			p.Net.Params[(n-1)*p.Net.Hidden[0]+k] = float32(0.3 * rng.NormFloat64())
		}
	}
	p.Net.Refresh()
	if err := policy.Put(b, p, b.Task); err != nil {
		t.Fatal(err)
	}
	return b, p
}

func holdInC(t *testing.T, push, lag float64) {
	rng := rand.New(rand.NewPCG(3, 4))
	b, p := heeding(t, push, lag, rng)
	at := func(t float64) quad.Reference {
		return quad.Reference{P: so3.Vec3{X: math.Sin(t), Y: math.Cos(2 * t), Z: 1}, V: so3.Vec3{X: math.Cos(t),
			Y: -2 * math.Sin(2*t)}, Yaw: 0.3 * t}
	}
	r := policy.NewRunnerOf(must(policy.Load(b))(t).NewBuffers(), b.Dt, at)
	var inputs, want []float32
	measured := push+lag == 0
	vector := func(v so3.Vec3) { inputs = append(inputs, float32(v.X), float32(v.Y), float32(v.Z)) }
	random := func(size float64) so3.Vec3 {
		return so3.Vec3{X: size * rng.NormFloat64(), Y: size * rng.NormFloat64(), Z: size * rng.NormFloat64()}
	}
	const ticks = 1000
	for k := range ticks {
		now := float64(k) * b.Dt
		ref := at(now)
		s := quad.State{P: ref.P.Add(random(0.1)), V: ref.V.Add(random(0.03)), Q: so3.Exp(random(0.3))}
		z := standard(rng, p.Latent)
		r.SetLatent(z)
		c := r.Command(now, &s)
		vector(s.P)
		inputs = append(inputs, float32(s.Q.W), float32(s.Q.X), float32(s.Q.Y), float32(s.Q.Z))
		vector(s.V)
		seen := r.Inputs()[:p.Observation.Size()]
		for i, x := range seen[len(seen)-p.Observation.MeasuredSize():] {
			unit := push
			if push == 0 || i == 3 {
				unit = lag
			}
			inputs, measured = append(inputs, float32(unit)*x), measured || x != 0
		}
		for i := range p.Observation.PreviewPoints {
			vector(at(now + p.Observation.Look(i)).P)
		}
		vector(ref.V)
		inputs = append(append(inputs, float32(math.Cos(ref.Yaw)), float32(math.Sin(ref.Yaw))), z...)
		want = append(want, float32(c.Thrust), float32(c.Rates.X), float32(c.Rates.Y), float32(c.Rates.Z))
	}
	if !measured {
		t.Error("neither push nor lag was measured")
	}
	call := "\tnet_state s;\n\tnet_reference r;\n\tfloat z[NET_LATENT], c[4];\n\tnet_reset();\n" +
		"\twhile (fread(&s, sizeof s, 1, stdin) == 1 && fread(&r, sizeof r, 1, stdin) == 1 &&\n" +
		"\t       fread(z, sizeof z, 1, stdin) == 1) {\n\t\tnet_step(&s, &r, z, c);\n" +
		"\t\tfwrite(c, sizeof c, 1, stdout);\n\t}\n"
	x := &io{rows: ticks, want: want, unit: p.Half}
	e := x.worst(answer(t, compiled(t, b, Policy, false, call), inputs, len(want)))
	t.Logf("%.2g of the range", e)
	if e > 1e-5 {
		t.Errorf("off by %.2g of the range", e)
	}
}

// A thousand ticks of the C controller of motors are those of our own runner without its trim, also where the policy's
// motors are in rad/s.
func TestMotorsInC(t *testing.T) {
	for _, full := range []float64{1, 4700} {
		t.Run(fmt.Sprintf("full speed of %g", full), func(t *testing.T) {
			b := byMotors(t, full)
			p := must(policy.RotorsFromBundle(b))(t)
			at := quad.Reference{P: so3.Vec3{X: 0.5, Z: 1}}
			r := policy.NewRunnerOf(must(policy.LoadRotors(b))(t).NewBuffers(), b.Dt,
				func(float64) quad.Reference { return at })
			r.HoldCorrection(true) // and with it the trim
			rng := rand.New(rand.NewPCG(3, 4))
			random := func(size float64) so3.Vec3 {
				return so3.Vec3{X: size * rng.NormFloat64(), Y: size * rng.NormFloat64(), Z: size * rng.NormFloat64()}
			}
			var inputs, want []float32
			vector := func(v so3.Vec3) { inputs = append(inputs, float32(v.X), float32(v.Y), float32(v.Z)) }
			const ticks = 1000
			for k := range ticks {
				s := rotors.State{W: random(0.5)}
				s.P, s.V, s.Q = at.P.Add(random(0.1)), random(0.03), so3.Exp(random(0.3))
				m := r.Motors(float64(k)*b.Dt, &s)
				vector(s.P)
				inputs = append(inputs, float32(s.Q.W), float32(s.Q.X), float32(s.Q.Y), float32(s.Q.Z))
				vector(s.V)
				vector(s.W)
				for range p.Observation.PreviewPoints {
					vector(at.P)
				}
				inputs = append(inputs, 0, 0, 0, 1, 0)
				want = append(want, float32(m[0]), float32(m[1]), float32(m[2]), float32(m[3]))
			}
			call := "\tnet_state s;\n\tnet_reference r;\n\tfloat z[NET_LATENT + 1] = {0}, c[4];\n\tnet_reset();\n" +
				"\twhile (fread(&s, sizeof s, 1, stdin) == 1 && fread(&r, sizeof r, 1, stdin) == 1) {\n" +
				"\t\tnet_step(&s, &r, z, c);\n\t\tfwrite(c, sizeof c, 1, stdout);\n\t}\n"
			x := &io{rows: ticks, want: want, unit: over(p.Half, full)}
			if e := x.worst(answer(t, compiled(t, b, Policy, false, call), inputs, len(want))); e > 1e-5 {
				t.Errorf("off by %.2g of the range", e)
			}
		})
	}
}

// A tick that sees what is no number gives no command, and the ticks after it are those of a new flight.
func TestControllerInCForgetsWhatIsNoNumber(t *testing.T) {
	call := "\tnet_state s = {{0, 0, 1}, {1, 0, 0, 0}, {0, 0, 0}};\n\tnet_reference r = {.heading = {1, 0}};\n" +
		"\tfloat z[NET_LATENT + 1] = {0}, c[4];\n\tnet_reset();\n\tfloat x;\n" +
		"\twhile (fread(&x, sizeof x, 1, stdin) == 1) {\n\t\ts.velocity[0] = x;\n\t\tnet_step(&s, &r, z, c);\n" +
		"\t\tfwrite(c, sizeof c, 1, stdout);\n\t}\n"
	program := compiled(t, flown(t), Policy, false, call)
	good := []float32{0, 0.1, 0.2, 0.3}
	want := answer(t, program, good, 4*len(good))
	for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(1))} {
		got := answer(t, program, append([]float32{0.5, bad}, good...), 4*(2+len(good)))
		if !slices.Equal(got[8:], want) || got[4] == got[4] {
			t.Errorf("after %g: %v, expected %v", bad, got[4:], want)
		}
	}
}

// A bundle's task does not end a comment of the source.
func TestTaskIsNoCode(t *testing.T) {
	b := *flown(t)
	b.Task = "hover */ int injected; /*\n#error \\"
	h, c, err := must(Of(&b))(t).C("net", []string{Policy}, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range [][]byte{h, c} {
		if head, _, _ := strings.Cut(string(text), "*/"); strings.Contains(string(text[len(head):]), "injected") ||
			strings.Contains(string(text), "\n#error") {
			t.Errorf("%.300s", text)
		}
	}
}

func TestRefusals(t *testing.T) {
	n := must(Of(cases(t)["no latent"]))(t)
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"no policy":    {second(n.ONNX(Policy)), "has no policy, it has model"},
		"no encoder":   {third(n.C("net", []string{Encoder}, false)), "has no encoder, it has model"},
		"unknown part": {second(n.ONNX("wings")), `part "wings", expected policy, encoder or model`},
		"a part twice": {third(n.C("net", []string{Model, Model}, false)), `part "model" is named twice`},
		"bad name":     {third(n.C("a-b", []string{Model}, false)), `name "a-b", expected lower case letters`},
	} {
		t.Run(name, func(t *testing.T) {
			if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
				t.Errorf("%v, expected %q", c.err, c.want)
			}
		})
	}
	if _, err := Of(&bundle.Bundle{ID: "x"}); err == nil || err.Error() != "bundle x has neither a policy nor a model" {
		t.Error(err)
	}
}

func second[T any](_ T, err error) error        { return err }
func third[T, U any](_ T, _ U, err error) error { return err }
