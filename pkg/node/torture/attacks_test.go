package torture

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
)

// attack is a kind of hostile traffic.
type attack struct {
	name string
	next func(a *attacker, n int) []byte // its n-th packet
	most int                             // packets; 0: as many as fit the time
}

// attacker knows what whoever listens on the network knows.
type attacker struct {
	*rand.Rand
	on       network
	victims  []knownWriter // writers of the graph
	captured [][]byte      // messages of the graph
	ports    []int         // on which it listens
	known    []guidPrefix  // strangers whom the graph took for participants
}

func (a *attacker) victim() *knownWriter { return &a.victims[a.IntN(len(a.victims))] }

// stranger is a new participant.
func (a *attacker) stranger() guidPrefix {
	p := randomPrefix(a.Rand, a.on.vendor)
	a.known = append(a.known, p)
	return p
}

// acquaintances is how many strangers introduce themselves one by one.
const acquaintances = 20

// acquaintance is a stranger that announced itself; every other time it is one that did so when there was no flood.
func (a *attacker) acquaintance() guidPrefix {
	n := len(a.known)
	if n == 0 {
		return a.stranger()
	}
	if a.IntN(2) == 0 {
		n = min(n, acquaintances)
	}
	return a.known[a.IntN(n)]
}

// home is a locator of the graph itself: what is sent there comes back to it.
func (a *attacker) home() []byte {
	return locator(uint32(a.ports[a.IntN(len(a.ports))]), [4]byte{127, 0, 0, 1})
}

// announce is a participant's announcement.
func (a *attacker) announce(from guidPrefix, to []byte, leave uint16) []byte {
	return newRTPS(from).data(spdpReader, spdpWriter, 1, participant(from, a.on.tag, to, leave)).b
}

const endless = math.MaxInt64 - 1000

// ofStrangers are attacks under names of the attacker's own. The numbers are those of the published faults of DDS
// implementations whose packets they follow.
var ofStrangers = []attack{
	{name: "participants by the thousand, under another tag", most: 1000, next: func(a *attacker, _ int) []byte {
		from := randomPrefix(a.Rand, a.on.vendor)
		return newRTPS(from).data(spdpReader, spdpWriter, 1, participant(from, "another", a.home(), 0)).b
	}},
	{name: "participants by the thousand under its tag, whose locators are the graph's own " +
		"(reflection: CVE-2021-38425, -38429, -38487)",
		most: 1000, next: func(a *attacker, _ int) []byte { return a.announce(a.stranger(), a.home(), 0) }},
	{name: "participants with locators of port 0, of multicast and of broadcast", most: 200,
		next: func(a *attacker, n int) []byte {
			to := [][]byte{locator(0, [4]byte{127, 0, 0, 1}), locator(7400, [4]byte{239, 255, 0, 1}),
				locator(7400, [4]byte{255, 255, 255, 255}), locator(1<<31, [4]byte{})}
			return a.announce(a.stranger(), to[n%len(to)], 0)
		}},
	{name: "participants that leave parameters out (eclipse-cyclonedds/cyclonedds#1758)", most: 400,
		next: func(a *attacker, n int) []byte {
			return a.announce(a.stranger(), a.home(), []uint16{0x02, 0x15, 0x16, 0x50, 0x31, 0x32, 0x58}[n%7])
		}},
	{name: "parameter lists with false lengths, and without an end (CVE-2021-38441, -38443, CVE-2024-30258)",
		next: malformedList},
	{name: "payloads of other encodings (eclipse-cyclonedds/cyclonedds#1751)", next: func(a *attacker, n int) []byte {
		p := participant(a.acquaintance(), a.on.tag, a.home(), 0)
		binary.BigEndian.PutUint16(p, uint16(n%20))
		return newRTPS(a.acquaintance()).data(spdpReader, spdpWriter, int64(n), p).b
	}},
	{name: "writers by the thousand, of topics of the graph and of others", most: 2000,
		next: func(a *attacker, n int) []byte {
			from, topic := a.known[n%min(len(a.known), 50)], "rt/quad/command"
			if n%2 == 0 {
				topic = "rt/" + string(rune('a'+n%26)) + "/x"
			}
			id := uint32(n)<<8 | 0x03
			return newRTPS(from).heartbeat(0, publicationsWriter, 1, 1000, uint32(n+1)).
				data(publicationsReader, publicationsWriter, int64(n/50+1), announced(from, id, topic,
					"vnd::msg::dds_::ThrustRates_")).b
		}},
	{name: "GAPs over all numbers (CVE-2025-64438)", next: func(a *attacker, n int) []byte {
		w := []uint32{publicationsWriter, subscriptionsWr, livelinessWriter, 0x103}[n%4]
		return newRTPS(a.acquaintance()).gap(0, w, 1+int64(n), endless, uint32(a.IntN(300))).b
	}},
	{name: "HEARTBEATs of numbers that never come", next: func(a *attacker, n int) []byte {
		w := []uint32{publicationsWriter, subscriptionsWr, livelinessWriter}[n%3]
		return newRTPS(a.acquaintance()).heartbeat(0, w, a.Int64N(1000), endless, uint32(n)).b
	}},
	{name: "HEARTBEATs that say that all is gone up to a great number", next: func(a *attacker, n int) []byte {
		w := []uint32{publicationsWriter, subscriptionsWr, livelinessWriter}[n%3]
		first := int64(1) << (16 + n%46)
		return newRTPS(a.acquaintance()).heartbeat(0, w, first, first+a.Int64N(2), uint32(n)).b
	}},
	{name: "fragments of samples that never get whole, of up to 4 GB", next: func(a *attacker, n int) []byte {
		size := uint16(1 + a.IntN(1300))
		w := []uint32{publicationsWriter, subscriptionsWr, livelinessWriter}[n%3]
		whole := []uint32{math.MaxUint32, 1 << 30, 1 << 24, 60_000}[n/3%4]
		return newRTPS(a.acquaintance()).heartbeat(0, w, 1, 1<<30, uint32(n+1)).
			frag(0, w, int64(n)+1, 1+a.Uint32N(whole/uint32(size)), size, whole, make([]byte, size)).b
	}},
	{name: "samples out of order, whose predecessors never come", next: func(a *attacker, n int) []byte {
		w := []uint32{publicationsWriter, subscriptionsWr, livelinessWriter}[n%3]
		return newRTPS(a.acquaintance()).heartbeat(0, w, 1, 1<<30, uint32(n+1)).
			data(0, w, 2+2*int64(n), make([]byte, 1200)).b
	}},
	{name: "ACKNACKs of strangers, that ask for all again", next: func(a *attacker, n int) []byte {
		w := a.victim()
		m := newRTPS(a.acquaintance())
		m.sub(rtpsInfoDst, 0, w.prefix[:])
		return m.ackNack(publicationsReader, w.id, 1, 256, uint32(n)).b
	}},
	{name: "submessages of false lengths, unknown kinds, many in one packet (CVE-2021-38435)", next: junk},
}

// asTheGraph are attacks under the names of the graph's own participants, which nothing but SROS 2 tells from theirs.
var asTheGraph = []attack{
	{name: "messages of the graph, replayed", next: func(a *attacker, _ int) []byte {
		return a.captured[a.IntN(len(a.captured))]
	}},
	{name: "messages of the graph with bits flipped", next: func(a *attacker, _ int) []byte {
		return flipped(a.Rand, a.captured[a.IntN(len(a.captured))])
	}},
	{name: "fragments under the graph's names", next: func(a *attacker, n int) []byte {
		w, size := a.victim(), uint16(1+a.IntN(1300))
		whole := []uint32{math.MaxUint32, 1 << 30, 1 << 24, 60_000}[n%4]
		return newRTPS(w.prefix).frag(0, w.id, w.newest+1000+int64(n), 1+a.Uint32N(whole/uint32(size)), size, whole,
			make([]byte, size)).b
	}},
	{name: "HEARTBEATs under the graph's names (eclipse-cyclonedds/cyclonedds#1854)",
		next: func(a *attacker, n int) []byte {
			w := a.victim()
			return newRTPS(w.prefix).heartbeat(0, w.id, w.newest+a.Int64N(1e6), endless, math.MaxUint32-uint32(n)).b
		}},
	{name: "GAPs under the graph's names", next: func(a *attacker, n int) []byte {
		w := a.victim()
		return newRTPS(w.prefix).gap(0, w.id, 1, endless, uint32(a.IntN(300))).b
	}},
}

// malformedList announces something in a list whose parameters claim what is not so.
func malformedList(a *attacker, n int) []byte {
	from, p := a.acquaintance(), newPlist()
	lengths := []uint16{0xffff, 0xfffc, 0x8000, 3, 1, 0}
	ids := []uint16{0x05, 0x07, 0x15, 0x21, 0x29, 0x2c, 0x31, 0x32, 0x50, 0x58, 0x59, 0x5a, 0x62, 0x70, 0x71, 0x1001,
		0x1002, 0x1005, 0x4014, 0x8000, 0x8007, 0xc000}
	for range 1 + a.IntN(8) {
		value := u32(nil, a.Uint32(), math.MaxUint32, a.Uint32N(1<<20), math.MaxInt32)
		p.claiming(ids[a.IntN(len(ids))], lengths[a.IntN(len(lengths))], value)
		p.add(ids[a.IntN(len(ids))], u32(nil, []uint32{math.MaxUint32, 1 << 30, 1 << 16, 0}[a.IntN(4)], a.Uint32()))
	}
	reader, writer := uint32(spdpReader), uint32(spdpWriter)
	if n%2 == 0 {
		reader, writer = publicationsReader, publicationsWriter
	}
	if list := p.b; n%3 == 0 {
		return newRTPS(from).data(reader, writer, int64(n), list).b // without an end
	}
	return newRTPS(from).data(reader, writer, int64(n), p.end()).b
}

// junk is a message that is none.
func junk(a *attacker, n int) []byte {
	m := newRTPS(a.acquaintance())
	kinds := []byte{rtpsPad, rtpsAckNack, rtpsHeartbeat, rtpsGap, rtpsInfoTS, rtpsInfoSrc, rtpsInfoReply, rtpsInfoDst,
		rtpsNackFrag, rtpsHeartbeatFrag, rtpsData, rtpsFrag, 0x30, 0x31, 0x32, 0x33, 0x34, 0x80, 0xff}
	for range 1 + a.IntN(60) {
		body := make([]byte, 4*a.IntN(16))
		for i := range body {
			body[i] = byte(a.Uint32() | uint32(n))
		}
		m.sub(kinds[a.IntN(len(kinds))], byte(a.Uint32())|1, body)
		if a.IntN(4) == 0 { // a length that is not so
			binary.LittleEndian.PutUint16(m.b[len(m.b)-len(body)-2:], uint16(a.Uint32()))
		}
	}
	if n%10 == 0 {
		return m.b[:a.IntN(24)]
	}
	return m.b[:min(len(m.b), 60_000)]
}
