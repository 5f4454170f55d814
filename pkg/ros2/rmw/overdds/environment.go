package overdds

import (
	"encoding/xml"
	"fmt"
	"os"
	"strconv"
	"strings"

	"vnd/pkg/ros2/rmw"
)

// Config is a process' configuration, read from the environment.
type Config struct {
	Domain int // 0…232
	// XML configures Cyclone DDS: a list for dds_create_domain, separated by
	// commas, of which later parts override earlier ones.
	XML    string
	Distro string // for Options
}

// maxDomain is the last whose ports fit below 65536 (RTPS 2.5, §9.6.2.3).
const maxDomain = 232

// Environment reads ROS_DISTRO, ROS_DOMAIN_ID, ROS_LOCALHOST_ONLY,
// ROS_AUTOMATIC_DISCOVERY_RANGE, ROS_STATIC_PEERS and CYCLONEDDS_URI. It does so as
// rcl and rmw_cyclonedds_cpp of the distribution do; without a name that is Humble.
// Malformed values that these accept silently are errors here. getenv returns "" for
// variables that are not set, and interfaces are this machine's.
//
// Where there is no multicast, which is usual on a loopback, Cyclone finds at most 10
// processes, or 33 in newer distributions. A part of our own, between that of
// rmw_cyclonedds_cpp and the user's, raises this to 121.
func Environment(getenv func(string) string, interfaces []Interface) (Config, error) {
	c, d, err := common(getenv)
	if err != nil {
		return c, err
	}
	user := getenv("CYCLONEDDS_URI")
	settings, err := readURI(user)
	if err != nil {
		return c, fmt.Errorf("CYCLONEDDS_URI: %w", err)
	}
	parts := []string{d.xml()}
	if d.rangeOf != discoveryOff && !settings.multicast(d, interfaces) {
		parts = append(parts, manyProcesses)
	}
	c.XML = strings.Trim(strings.Join(append(parts, user), ","), ",")
	return c, nil
}

// common reads what every DDS implementation takes.
func common(getenv func(string) string) (c Config, d discovery, err error) {
	c.Distro = getenv("ROS_DISTRO")
	if err = rmw.CheckDistribution(c.Distro); err != nil {
		return c, d, err
	}
	if c.Domain, err = domain(getenv("ROS_DOMAIN_ID")); err != nil {
		return c, d, err
	}
	d, err = discoveryOf(getenv, c.Distro)
	return c, d, err
}

// FastConfig is a process' configuration of Fast DDS.
type FastConfig struct {
	Domain    int  // 0…232
	Localhost bool // over the loopback alone
	Alone     bool // no other process
	Unicast   bool // no multicast
	Peers     []string
	Distro    string // for Options
}

// FastEnvironment reads the variables of Environment without CYCLONEDDS_URI, as rmw_fastrtps
// does. The range LOCALHOST leaves out multicast, but no interface: Cyclone DDS of the same range is at that of the
// network, and answers no addresses of the loopback there.
func FastEnvironment(getenv func(string) string) (FastConfig, error) {
	c, d, err := common(getenv)
	f := FastConfig{Domain: c.Domain, Distro: c.Distro, Peers: d.peers, Alone: d.rangeOf == discoveryOff,
		Localhost: d.localhostOnly, Unicast: d.rangeOf == discoveryLocalhost}
	if f.Unicast {
		f.Peers = append(f.Peers, "127.0.0.1")
	}
	return f, err
}

// manyProcesses allows as many processes as the ports of one domain do.
const manyProcesses = "<CycloneDDS><Domain><Discovery><ParticipantIndex>auto</ParticipantIndex>" +
	"<MaxAutoParticipantIndex>120</MaxAutoParticipantIndex></Discovery></Domain></CycloneDDS>"

// domain reads ROS_DOMAIN_ID as strtoul with base 0 does.
func domain(s string) (int, error) {
	if s == "" {
		return 0, nil
	}
	text := strings.TrimSpace(s)
	id, err := strconv.ParseUint(text, 0, 32)
	if err != nil || strings.ContainsAny(text, "_bBoO") || id > maxDomain {
		return 0, fmt.Errorf("ROS_DOMAIN_ID is %q, expected a number from 0 to %d", s, maxDomain)
	}
	return int(id), nil
}

// Values of ROS_AUTOMATIC_DISCOVERY_RANGE.
const (
	discoveryOff       = "OFF"
	discoveryLocalhost = "LOCALHOST"
	discoverySubnet    = "SUBNET"
	discoverySystem    = "SYSTEM_DEFAULT"
)

// discovery is the configuration by ROS' own variables.
type discovery struct {
	newer         bool
	localhostOnly bool     // Humble; Jazzy takes it for a range
	rangeOf       string   // newer
	peers         []string // newer
}

func discoveryOf(getenv func(string) string, distro string) (discovery, error) {
	d := discovery{newer: rmw.AfterHumble(distro)}
	switch v := getenv("ROS_LOCALHOST_ONLY"); {
	case v == "", v == "0", rmw.AfterJazzy(distro):
	case v == "1":
		d.localhostOnly = true
	default:
		return d, fmt.Errorf("ROS_LOCALHOST_ONLY is %q, expected 0 or 1", v)
	}
	if !d.newer {
		return d, nil
	}
	if d.localhostOnly { // deprecated, but overrides the others
		d.localhostOnly, d.rangeOf = false, discoveryLocalhost
		return d, nil
	}
	switch d.rangeOf = getenv("ROS_AUTOMATIC_DISCOVERY_RANGE"); d.rangeOf {
	case "":
		d.rangeOf = discoverySubnet
	case discoveryOff, discoveryLocalhost, discoverySubnet, discoverySystem:
	default:
		return d, fmt.Errorf("ROS_AUTOMATIC_DISCOVERY_RANGE is %q, expected %s, %s, %s or %s", d.rangeOf,
			discoverySubnet, discoveryLocalhost, discoveryOff, discoverySystem)
	}
	const maxPeer = 255 // RMW_DISCOVERY_OPTIONS_STATIC_PEERS_MAX_LENGTH and a NUL
	for peer := range strings.SplitSeq(getenv("ROS_STATIC_PEERS"), ";") {
		if len(peer) > maxPeer {
			return d, fmt.Errorf("ROS_STATIC_PEERS: a peer of %d characters, expected at most %d: %.40s…", len(peer),
				maxPeer, peer)
		}
		if peer != "" {
			d.peers = append(d.peers, peer)
		}
	}
	return d, nil
}

// xml is rmw_cyclonedds_cpp's configuration (check_create_domain).
func (d discovery) xml() string {
	var general, discovery string
	switch {
	case d.localhostOnly:
		general = `<Interfaces><NetworkInterface address="127.0.0.1"/></Interfaces>`
	case !d.newer || d.rangeOf == discoverySystem:
		return ""
	case d.rangeOf == discoveryOff:
		general = "<AllowMulticast>false</AllowMulticast>"
		discovery = "<ParticipantIndex>none</ParticipantIndex><Tag>ros_discovery_off_" + strconv.Itoa(os.Getpid()) +
			"</Tag>"
	default:
		discovery = "<ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>32</MaxAutoParticipantIndex>"
		peers := d.peers
		if d.rangeOf == discoveryLocalhost {
			general = "<AllowMulticast>false</AllowMulticast>"
			peers = append([]string{"localhost"}, peers...)
		}
		discovery += peersXML(peers)
	}
	return "<CycloneDDS><Domain>" + element("General", general) + element("Discovery", discovery) +
		"</Domain></CycloneDDS>"
}

func element(name, content string) string {
	if content == "" {
		return ""
	}
	return "<" + name + ">" + content + "</" + name + ">"
}

func peersXML(peers []string) string {
	var b strings.Builder
	for _, peer := range peers {
		b.WriteString(`<Peer address="`)
		_ = xml.EscapeText(&b, []byte(peer)) // a Builder takes everything
		b.WriteString(`"/>`)
	}
	return element("Peers", b.String())
}
