// Command latent_encoder tells from the steps of a flight what condition it is flown in.
package main

import "vnd/pkg/node/encoder"

func main() { encoder.Main() }
