// Command arm_controller moves a Panda's tool along references, by a bundle's policy or by computed torque.
package main

import "vnd/pkg/node/armcontroller"

func main() { armcontroller.Main() }
