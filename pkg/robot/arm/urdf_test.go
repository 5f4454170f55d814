package arm

import (
	"encoding/xml"
	"os"
	"strconv"
	"strings"
	"testing"

	"vnd/pkg/core/so3"
)

// origin is where a part of launch/panda.urdf is.
type origin struct {
	At   string `xml:"xyz,attr"`
	Turn string `xml:"rpy,attr"`
}

func vector(t *testing.T, text string) (v so3.Vec3) {
	t.Helper()
	var x [3]float64
	for i, word := range strings.Fields(text) {
		var err error
		if x[i], err = strconv.ParseFloat(word, 64); err != nil {
			t.Fatal(err)
		}
	}
	return so3.Vec3{X: x[0], Y: x[1], Z: x[2]}
}

// TestURDF: in launch/panda.urdf, as its reader turns its joints, the flange is where the model has it, at every
// angle that MuJoCo made golden data of; masses and limits are the model's.
func TestURDF(t *testing.T) {
	var file struct {
		Links []struct {
			Mass struct {
				Value float64 `xml:"value,attr"`
			} `xml:"inertial>mass"`
		} `xml:"link"`
		Joints []struct {
			Type   string `xml:"type,attr"`
			Origin origin `xml:"origin"`
			Limit  struct {
				Lower    float64 `xml:"lower,attr"`
				Upper    float64 `xml:"upper,attr"`
				Velocity float64 `xml:"velocity,attr"`
				Effort   float64 `xml:"effort,attr"`
			} `xml:"limit"`
		} `xml:"joint"`
	}
	data, err := os.ReadFile("../../../launch/panda.urdf")
	if err == nil {
		err = xml.Unmarshal(data, &file)
	}
	if err != nil || len(file.Joints) != Joints+1 || len(file.Links) != Joints+2 {
		t.Fatalf("%v, %d joints, %d links", err, len(file.Joints), len(file.Links))
	}
	for _, g := range readGolden(t) {
		at, turn := so3.Vec3{}, so3.Identity()
		for i, j := range file.Joints {
			rpy := vector(t, j.Origin.Turn)
			at = at.Add(turn.Rotate(vector(t, j.Origin.At)))
			if turn = turn.Mul(so3.FromEuler(rpy.X, rpy.Y, rpy.Z)); i < Joints {
				turn = turn.Mul(so3.FromEuler(0, 0, g.Q[i]))
			}
		}
		off := at.Sub(so3.Vec3{X: g.Tool[0], Y: g.Tool[1], Z: g.Tool[2]}).Norm()
		turned := so3.Log(so3.FromMat3(g.Turn).Conj().Mul(turn)).Norm()
		if !(off < 1e-7 && turned < 1e-7) {
			t.Fatalf("at %v the flange is %g m and %g rad off", g.Q, off, turned)
		}
	}
	for i, l := range Panda().Links {
		m := file.Joints[i].Limit
		if file.Links[i+1].Mass.Value != l.Body.Mass || m.Lower != l.Min || m.Upper != l.Max || m.Velocity != l.Speed ||
			m.Effort != l.Torque || file.Joints[i].Type != "revolute" {
			t.Errorf("joint %d: %+v and %g kg, the model has %+v", i+1, m, file.Links[i+1].Mass.Value, l)
		}
	}
}
