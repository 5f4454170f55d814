package ros

import (
	"errors"

	"vnd/pkg/dds/cyclone"
	"vnd/pkg/dds/inproc"
	"vnd/pkg/rmw"
	"vnd/pkg/rmw/overdds"
)

// Cyclone joins the graph over Cyclone DDS, as the environment says: ROS_DOMAIN_ID,
// ROS_LOCALHOST_ONLY, ROS_AUTOMATIC_DISCOVERY_RANGE, ROS_STATIC_PEERS, ROS_DISTRO,
// ROS_SECURITY_ENABLE and CYCLONEDDS_URI. It is an error where it is not built in.
func Cyclone(s Settings) (rmw.Context, error) {
	if err := s.security(); err != nil {
		return nil, err
	}
	interfaces, err := overdds.Interfaces()
	if err != nil {
		return nil, err
	}
	config, err := overdds.Environment(s.Getenv, interfaces)
	if err != nil {
		return nil, err
	}
	enclave := s.enclave()
	p, err := cyclone.Open(cyclone.Config{
		Domain: int(config.Domain), XML: config.XML, UserData: overdds.UserData(enclave),
		Log: func(line string) { s.Log.Debug().Msg(line) },
	})
	if err != nil {
		return nil, err
	}
	return overdds.New(p, overdds.Options{Distro: config.Distro, Enclave: enclave})
}

// security refuses to speak openly where ROS' variables ask for SROS 2, which is
// not supported; with the strategy Permissive, ROS' default, it only warns, as ROS
// does of a process that has no keys.
func (s Settings) security() error {
	if s.Getenv("ROS_SECURITY_ENABLE") != "true" {
		return nil
	}
	if s.Getenv("ROS_SECURITY_STRATEGY") == "Enforce" {
		return errors.New("ROS_SECURITY_STRATEGY is Enforce, but this node cannot encrypt or authenticate: expected Permissive, or ROS_SECURITY_ENABLE false")
	}
	s.Log.Warn().Msg("ROS_SECURITY_ENABLE is true, but this node cannot encrypt or authenticate: it speaks openly")
	return nil
}

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
