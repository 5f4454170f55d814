// Command visualizer draws what flies: for rviz, and on a live page.
package main

import "vnd/pkg/node/visualizer"

func main() { visualizer.Main() }
