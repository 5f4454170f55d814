// Command state_estimator makes a state of an IMU and late poses, for policy_controller to fly by.
package main

import "vnd/pkg/node/stateestimator"

func main() { stateestimator.Main() }
