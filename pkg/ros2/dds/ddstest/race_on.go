//go:build race

package ddstest

const raceDetector = true
