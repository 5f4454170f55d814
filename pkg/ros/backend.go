package ros

import (
	"vnd/pkg/dds/inproc"
	"vnd/pkg/rmw"
	"vnd/pkg/rmw/overdds"
)

// InProcess joins the nodes of one process to each other, without a network.
func InProcess(d *inproc.Domain) Backend {
	return func(s Settings) (rmw.Context, error) {
		enclave := s.enclave()
		return overdds.New(d.Open(overdds.UserData(enclave)), overdds.Options{Distro: s.Getenv("ROS_DISTRO"), Enclave: enclave})
	}
}

func (s Settings) enclave() string {
	if s.Enclave == "" {
		return "/"
	}
	return s.Enclave
}
