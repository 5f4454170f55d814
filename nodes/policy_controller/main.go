// Command policy_controller flies a bundle's policy: motion capture in, thrust and body rates out.
package main

import "vnd/pkg/node/controller"

func main() { controller.Main() }
