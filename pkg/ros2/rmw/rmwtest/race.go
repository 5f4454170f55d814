//go:build race

package rmwtest

// raceDetector: with it on, sync.Pool forgets on purpose.
const raceDetector = true
