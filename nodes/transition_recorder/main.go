// Command transition_recorder keeps what was flown: transitions to learn from, and bags of the raw topics.
package main

import "vnd/pkg/node/recorder"

func main() { recorder.Main() }
