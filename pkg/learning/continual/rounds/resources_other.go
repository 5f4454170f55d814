//go:build !linux

package rounds

func giveWay(int) error { return nil }

func givesWay(int) bool { return true }
