package torture

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
)

// Submessages and built-in entities of RTPS 2.5, §9.4.5 and §9.3.1.5.
const (
	rtpsPad, rtpsAckNack, rtpsHeartbeat, rtpsGap          = 0x01, 0x06, 0x07, 0x08
	rtpsInfoTS, rtpsInfoSrc, rtpsInfoReply, rtpsInfoDst   = 0x09, 0x0c, 0x0f, 0x0e
	rtpsNackFrag, rtpsHeartbeatFrag, rtpsData, rtpsFrag   = 0x12, 0x13, 0x15, 0x16
	spdpWriter, spdpReader, publicationsWriter            = 0x000100c2, 0x000100c7, 0x000003c2
	publicationsReader, livelinessWriter, subscriptionsWr = 0x000003c7, 0x000200c2, 0x000004c2
)

// guidPrefix begins with the vendor's number (RTPS 2.5, §9.3.1.5).
type guidPrefix [12]byte

// rtps builds a message.
type rtps struct{ b []byte }

func newRTPS(from guidPrefix) *rtps {
	return &rtps{append([]byte{'R', 'T', 'P', 'S', 2, 1, from[0], from[1]}, from[:]...)}
}

// sub appends a submessage of a true length.
func (m *rtps) sub(id, flags byte, body []byte) *rtps {
	m.b = append(m.b, id, flags|1)
	m.b = binary.LittleEndian.AppendUint16(m.b, uint16(len(body)))
	m.b = append(m.b, body...)
	return m
}

func entity(b []byte, id uint32) []byte { return binary.BigEndian.AppendUint32(b, id) }

func u32(b []byte, all ...uint32) []byte {
	for _, x := range all {
		b = binary.LittleEndian.AppendUint32(b, x)
	}
	return b
}

// number is a sequence number: its upper half comes first.
func number(b []byte, n int64) []byte { return u32(b, uint32(n>>32), uint32(n)) }

func (m *rtps) data(reader, writer uint32, n int64, payload []byte) *rtps {
	b := number(entity(entity([]byte{0, 0, 16, 0}, reader), writer), n)
	return m.sub(rtpsData, 4, append(b, payload...))
}

func (m *rtps) gap(reader, writer uint32, from, to int64, bits uint32) *rtps {
	b := number(number(entity(entity(nil, reader), writer), from), to)
	b = u32(b, bits)
	for range min(bits, 256) / 32 {
		b = u32(b, math.MaxUint32)
	}
	return m.sub(rtpsGap, 0, b)
}

func (m *rtps) heartbeat(reader, writer uint32, first, last int64, count uint32) *rtps {
	return m.sub(rtpsHeartbeat, 0, u32(number(number(entity(entity(nil, reader), writer), first), last), count))
}

func (m *rtps) ackNack(reader, writer uint32, base int64, bits, count uint32) *rtps {
	b := u32(number(entity(entity(nil, reader), writer), base), bits)
	for range min(bits, 256) / 32 {
		b = u32(b, math.MaxUint32)
	}
	return m.sub(rtpsAckNack, 0, u32(b, count))
}

// frag is one fragment of a sample of a size, which never gets whole.
func (m *rtps) frag(reader, writer uint32, n int64, start uint32, size uint16, whole uint32, payload []byte) *rtps {
	b := number(entity(entity([]byte{0, 0, 28, 0}, reader), writer), n)
	b = u32(b, start)
	b = binary.LittleEndian.AppendUint16(b, 1)
	b = binary.LittleEndian.AppendUint16(b, size)
	return m.sub(rtpsFrag, 0, append(u32(b, whole), payload...))
}

// plist is a parameter list in little-endian CDR.
type plist struct{ b []byte }

func newPlist() *plist { return &plist{[]byte{0, 3, 0, 0}} }

func (p *plist) add(id uint16, value []byte) *plist {
	value = append(slices.Clone(value), make([]byte, (4-len(value)%4)%4)...)
	return p.claiming(id, uint16(len(value)), value)
}

// claiming adds a parameter that says how long it is, truly or not.
func (p *plist) claiming(id, length uint16, value []byte) *plist {
	p.b = binary.LittleEndian.AppendUint16(p.b, id)
	p.b = binary.LittleEndian.AppendUint16(p.b, length)
	p.b = append(p.b, value...)
	return p
}

func (p *plist) end() []byte { return append(p.b, 1, 0, 0, 0) }

func text(s string) []byte { return append(append(u32(nil, uint32(len(s)+1)), s...), 0) }

// locator is one of UDPv4.
func locator(port uint32, address [4]byte) []byte {
	return append(u32(nil, 1, port), append(make([]byte, 12), address[:]...)...)
}

// participant announces one (SPDP) that says where it listens. leave is a parameter that it leaves out.
func participant(from guidPrefix, tag string, to []byte, leave uint16) []byte {
	p := newPlist()
	for _, x := range []struct {
		id    uint16
		value []byte
	}{
		{0x15, []byte{2, 1}}, {0x16, from[:2]}, {0x50, entity(from[:], 0x1c1)}, {0x31, to}, {0x32, to},
		{0x02, u32(nil, math.MaxInt32, math.MaxUint32)}, {0x58, u32(nil, 0xc3f)}, {0x4014, text(tag)},
		{0x62, text("stranger")},
	} {
		if x.id != leave {
			p.add(x.id, x.value)
		}
	}
	return p.end()
}

// announced is a writer of a topic in the list of publications (SEDP).
func announced(from guidPrefix, writer uint32, topic, typeName string) []byte {
	guid := entity(from[:], writer)
	return newPlist().add(0x05, text(topic)).add(0x07, text(typeName)).add(0x5a, guid).
		add(0x50, entity(from[:], 0x1c1)).add(0x1a, u32(nil, 2, 0, 1e8)).end()
}

func randomPrefix(r *rand.Rand, vendor byte) (p guidPrefix) {
	for i := range p {
		p[i] = byte(r.Uint32())
	}
	p[0], p[1] = 1, vendor
	return p
}

// knownWriter is one of the graph, and the newest sample that was captured of it.
type knownWriter struct {
	prefix guidPrefix
	id     uint32
	newest int64
}

// writersIn are those of captured messages.
func writersIn(messages [][]byte) (all []knownWriter) {
	for _, m := range messages {
		for at := 20; at+24 <= len(m); {
			size := int(binary.LittleEndian.Uint16(m[at+2:]))
			if m[at] == rtpsData && m[at+1]&1 == 1 && at+4+size <= len(m) && size >= 20 {
				w := knownWriter{guidPrefix(m[8:20]), binary.BigEndian.Uint32(m[at+12:]),
					int64(binary.LittleEndian.Uint32(m[at+16:]))<<32 | int64(binary.LittleEndian.Uint32(m[at+20:]))}
				i := slices.IndexFunc(all, func(k knownWriter) bool { return k.prefix == w.prefix && k.id == w.id })
				if i < 0 {
					all = append(all, w)
				} else {
					all[i].newest = max(all[i].newest, w.newest)
				}
			}
			if size == 0 {
				break
			}
			at += 4 + size
		}
	}
	return all
}

// messagesIn are those of a packet capture by Cyclone DDS: a header of 24 bytes, then records of 16 bytes and a packet.
func messagesIn(capture []byte) (messages [][]byte) {
	if len(capture) < 24 {
		return nil
	}
	for all := capture[24:]; len(all) > 16; {
		n := min(int(binary.LittleEndian.Uint32(all[8:])), len(all)-16)
		if at := bytes.Index(all[16:16+n], []byte("RTPS")); at > 0 && n-at > 24 {
			messages = append(messages, all[16+at:16+n])
		}
		all = all[16+n:]
	}
	return messages
}

// flipped has some bits of a message flipped, or a number set to one at the edge.
func flipped(r *rand.Rand, message []byte) []byte {
	m := bytes.Clone(message)
	edges := []uint32{0, 1, math.MaxInt32, 1 << 31, math.MaxUint32, math.MaxUint32 - 1, 1 << 16}
	for range 1 + r.IntN(6) {
		at := 8 + r.IntN(len(m)-8)
		switch r.IntN(4) {
		case 0:
			if at &^= 3; at+4 <= len(m) {
				binary.LittleEndian.PutUint32(m[at:], edges[r.IntN(len(edges))])
			}
		case 1:
			m = m[:max(at, 12)]
		default:
			m[at] ^= 1 << r.IntN(8)
		}
		if len(m) < 24 {
			return m
		}
	}
	return m
}
