package ros

import (
	"fmt"

	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/dds/cyclone"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/rmw/overdds"
)

// Cyclone joins the graph over Cyclone DDS. It reads ROS_DOMAIN_ID, ROS_LOCALHOST_ONLY,
// ROS_AUTOMATIC_DISCOVERY_RANGE, ROS_STATIC_PEERS, ROS_DISTRO, CYCLONEDDS_URI and the
// variables ROS_SECURITY_…. Programs without Cyclone DDS return an error.
func Cyclone(s Settings) (rmw.Context, error) {
	keys, err := s.security()
	if err != nil {
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
		Domain: int(config.Domain), XML: config.XML, UserData: overdds.UserData(enclave), Security: keys,
		Log: func(line string) { s.Log.Debug().Msg(line) },
	})
	if err != nil {
		return nil, err
	}
	return overdds.New(p, overdds.Options{Distro: config.Distro, Enclave: enclave})
}

// security finds the keys of the process' enclave if ROS_SECURITY_ENABLE is true. Without
// keys it returns an error if ROS_SECURITY_STRATEGY is Enforce, and otherwise warns, as ROS
// does.
func (s Settings) security() (*dds.Security, error) {
	if s.Getenv("ROS_SECURITY_ENABLE") != "true" {
		return nil, nil
	}
	keys, err := overdds.Security(s.Getenv, s.enclave())
	switch {
	case err == nil:
		return keys, nil
	case s.Getenv("ROS_SECURITY_STRATEGY") == "Enforce":
		return nil, fmt.Errorf("ROS_SECURITY_STRATEGY is Enforce, but %w", err)
	}
	s.Log.Warn().Msgf("ROS_SECURITY_ENABLE is true, but %v: going on without encryption", err)
	return nil, nil
}

// InProcess connects the nodes of one process to each other, without a network.
func InProcess(d *inproc.Domain) Backend {
	return func(s Settings) (rmw.Context, error) {
		enclave := s.enclave()
		return overdds.New(d.Open(overdds.UserData(enclave)),
			overdds.Options{Distro: s.Getenv("ROS_DISTRO"), Enclave: enclave})
	}
}

func (s Settings) enclave() string {
	if s.Enclave == "" {
		return "/"
	}
	return s.Enclave
}
