// Command push_controller has a tool push a box to a goal, by a bundle's policy.
package main

import "vnd/pkg/node/pushcontroller"

func main() { pushcontroller.Main() }
