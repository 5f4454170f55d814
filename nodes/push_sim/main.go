// Command push_sim is a simulated box that a tool pushes, whose mass and friction nobody is told of.
package main

import "vnd/pkg/node/pushsim"

func main() { pushsim.Main() }
