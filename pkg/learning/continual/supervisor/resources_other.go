//go:build !linux

package supervisor

func giveWay(int) error { return nil }
