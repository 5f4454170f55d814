// Command flight_guard is the guard in a process of its own: it takes what the policy of policy_controller asks for,
// and alone commands the vehicle.
package main

import "vnd/pkg/node/controller"

func main() { controller.MainGuard() }
