// Command flight hosts policy_controller and latent_encoder in one process. It runs transition_recorder and
// background_learner as child processes, started anew where they end.
package main

import "vnd/pkg/node/flight"

func main() { flight.Main() }
