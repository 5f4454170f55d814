//go:build !linux

package rounds

func giveWay(int) error { return nil }
