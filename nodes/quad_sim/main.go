// Command quad_sim is a simulated quadrotor with its autopilot and the motion capture around it, behind the topics of a
// real one.
package main

import "vnd/pkg/node/quadsim"

func main() { quadsim.Main() }
