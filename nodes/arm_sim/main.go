// Command arm_sim is a simulated Panda with a payload that nobody is told of, behind the topics of ros2_control.
package main

import "vnd/pkg/node/armsim"

func main() { armsim.Main() }
