//go:build ignore

// This program writes launch/panda.urdf, what rviz draws of the arm: the frames, limits and bodies of the model, and
// simple shapes along its links. go generate runs it.
package main

import (
	"fmt"
	"log"
	"math"
	"os"
	"strings"

	"vnd/pkg/core/so3"
	. "vnd/pkg/robot/arm"
)

const file = "../../../launch/panda.urdf"

// thick is the radius of a link, m, from base to flange.
var thick = [Joints + 1]float64{0.07, 0.06, 0.06, 0.055, 0.055, 0.05, 0.045, 0.04}

func main() {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>
<!-- Franka Emika's Panda as pkg/robot/arm has it: frames, limits, bodies. By make gen. -->
<robot name="panda">
  <material name="light"><color rgba="0.9 0.9 0.92 1"/></material>
  <material name="dark"><color rgba="0.25 0.27 0.3 1"/></material>
`)
	c := Panda()
	for i := range Joints + 1 {
		if i > 0 {
			joint(&b, i, &c.Links[i-1])
		}
		fmt.Fprintf(&b, "  <link name=\"panda_link%d\">\n", i)
		if i > 0 {
			body(&b, &c.Links[i-1].Body)
		}
		end := c.Tool
		if i < Joints {
			end = c.Links[i].At
		}
		shapes(&b, thick[i], end)
		b.WriteString("  </link>\n")
	}
	fmt.Fprintf(&b, "  <joint name=\"panda_joint8\" type=\"fixed\">\n    <origin xyz=\"%s\" rpy=\"0 0 0\"/>\n"+
		"    <parent link=\"panda_link7\"/>\n    <child link=\"panda_link8\"/>\n  </joint>\n"+
		"  <link name=\"panda_link8\"/>\n</robot>\n", numbers(c.Tool.X, c.Tool.Y, c.Tool.Z))
	if err := os.WriteFile(file, []byte(b.String()), 0o666); err != nil {
		log.Fatal(err)
	}
}

// joint is the one that turns link i about its z axis.
func joint(b *strings.Builder, i int, l *Link) {
	roll := math.Atan2(l.Turn[2][1], l.Turn[1][1]) // Turn is about x alone
	fmt.Fprintf(b, "  <joint name=\"panda_joint%d\" type=\"revolute\">\n    <origin xyz=\"%s\" rpy=\"%s 0 0\"/>\n", i,
		numbers(l.At.X, l.At.Y, l.At.Z), numbers(roll))
	fmt.Fprintf(b, "    <parent link=\"panda_link%d\"/>\n    <child link=\"panda_link%d\"/>\n", i-1, i)
	b.WriteString("    <axis xyz=\"0 0 1\"/>\n")
	fmt.Fprintf(b, "    <limit lower=\"%g\" upper=\"%g\" velocity=\"%g\" effort=\"%g\"/>\n  </joint>\n", l.Min, l.Max,
		l.Speed, l.Torque)
}

// body is the mass of a link.
func body(b *strings.Builder, x *Body) {
	fmt.Fprintf(b, "    <inertial>\n      <origin xyz=\"%s\"/>\n      <mass value=\"%g\"/>\n", numbers(x.At.X, x.At.Y,
		x.At.Z), x.Mass)
	m := &x.Inertia
	fmt.Fprintf(b, "      <inertia ixx=\"%g\" ixy=\"%g\" ixz=\"%g\" iyy=\"%g\" iyz=\"%g\" izz=\"%g\"/>\n",
		m[0][0], m[0][1], m[0][2], m[1][1], m[1][2], m[2][2])
	b.WriteString("    </inertial>\n")
}

// shapes are a ball at a link's joint and a rod from there to the next.
func shapes(b *strings.Builder, radius float64, end so3.Vec3) {
	fmt.Fprintf(b, "    <visual><geometry><sphere radius=\"%g\"/></geometry><material name=\"dark\"/></visual>\n",
		radius)
	length := end.Norm()
	if length == 0 {
		return
	}
	pitch, yaw := math.Acos(end.Z/length), math.Atan2(end.Y, end.X)
	fmt.Fprintf(b, "    <visual><origin xyz=\"%s\" rpy=\"0 %s\"/><geometry><cylinder radius=\"%.3g\" length=\"%.6g\"/>"+
		"</geometry><material name=\"light\"/></visual>\n", numbers(end.X/2, end.Y/2, end.Z/2), numbers(pitch, yaw),
		0.85*radius, length)
}

// numbers with spaces between; what is nearly 0 is 0.
func numbers(all ...float64) string {
	var text []string
	for _, x := range all {
		text = append(text, fmt.Sprintf("%.9g", math.Round(x*1e9)/1e9+0))
	}
	return strings.Join(text, " ")
}
