package ros

import (
	"cmp"
	"fmt"

	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/dds/cyclone"
	"vnd/pkg/ros2/dds/fastdds"
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

// FastDDS joins the graph over Fast DDS, with the services of rmw_fastrtps. It reads
// what Cyclone reads, without CYCLONEDDS_URI.
func FastDDS(s Settings) (rmw.Context, error) {
	keys, err := s.security()
	if err != nil {
		return nil, err
	}
	config, err := overdds.FastEnvironment(s.Getenv)
	if err != nil {
		return nil, err
	}
	enclave := s.enclave()
	p, err := fastdds.Open(fastdds.Config{
		Domain: config.Domain, Localhost: config.Localhost, Alone: config.Alone, Unicast: config.Unicast,
		Peers:    config.Peers,
		UserData: overdds.UserData(enclave), Security: keys,
		Log: func(line string) { s.Log.Debug().Msg(line) },
	})
	if err != nil {
		return nil, fmt.Errorf("RMW_IMPLEMENTATION is %s: %w", cmp.Or(s.Getenv("RMW_IMPLEMENTATION"), "not set"), err)
	}
	if why := fastdds.Unlike(); why != "" && keys != nil && s.Getenv("ROS_DISTRO") != "" {
		s.Log.Warn().Msg(why)
	}
	return overdds.New(p, overdds.Options{Distro: config.Distro, Enclave: enclave, SampleIdentity: true})
}

// Suspicions are what ByEnvironment warns of: a distribution or a middleware that is not known, and what nobody reads.
func Suspicions(getenv func(string) string) []string {
	_, all := choose(getenv)
	return all
}

// choose is the middleware to speak, with what to warn of.
func choose(getenv func(string) string) (chosen string, warnings []string) {
	chosen, choice := rmw.Choose(getenv, fastdds.Installed)
	for _, text := range []string{rmw.UnknownDistribution(getenv("ROS_DISTRO")), rmw.GoneVariable(getenv), choice} {
		if text != "" {
			warnings = append(warnings, text)
		}
	}
	return chosen, warnings
}

// ByEnvironment joins the graph over the DDS implementation that RMW_IMPLEMENTATION names. Without it, over the default
// of the ROS 2 that is sourced; if that is Fast DDS, and not there, over Cyclone DDS with a warning.
func ByEnvironment(s Settings) (rmw.Context, error) {
	chosen, warnings := choose(s.Getenv)
	for _, text := range warnings {
		s.Log.Warn().Msg(text)
	}
	join := Cyclone
	if chosen != rmw.Cyclone {
		join = FastDDS
	}
	c, err := join(s)
	if distro := s.Getenv("ROS_DISTRO"); err == nil && distro != "" && s.Getenv("RMW_IMPLEMENTATION") == "" {
		s.Log.Info().Msgf("speaks %s: RMW_IMPLEMENTATION is not set, and ROS_DISTRO is %.60s", chosen, distro)
	}
	return c, err
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
