//go:build cgo && !nocyclone

package cyclone

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"vnd/pkg/ros2/dds"
)

// recorded reads testdata/rtps.bin.gz: messages between two ROS 2 programs, each after
// its length.
func recorded(t *testing.T) [][]byte {
	t.Helper()
	file, err := os.Open("testdata/rtps.bin.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	var messages [][]byte
	for len(all) > 0 {
		n := binary.LittleEndian.Uint16(all)
		messages = append(messages, all[2:2+n])
		all = all[2+n:]
	}
	return messages
}

// addressed sets a message's destination to the victim's prefix (submessage INFO_DST,
// RTPS 2.3, 9.4.5.6): a receiver drops messages for others.
func addressed(message, victim []byte) []byte {
	m := bytes.Clone(message)
	for at := 20; at+16 <= len(m); {
		if m[at] == 0x0e {
			copy(m[at+4:at+16], victim)
		}
		size := int(binary.LittleEndian.Uint16(m[at+2:]))
		if size == 0 {
			break
		}
		at += 4 + size
	}
	return m
}

// mutated changes, cuts, extends or repeats a part of a message.
func mutated(random *rand.Rand, message []byte) []byte {
	m := bytes.Clone(message)
	for range 1 + random.IntN(8) {
		at := random.IntN(len(m))
		switch random.IntN(7) {
		case 0:
			m[at] ^= 1 << random.IntN(8)
		case 1:
			m[at] = byte(random.Uint32())
		case 2: // numbers at the edge
			edges := []uint32{0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe, 0x10000}
			if at &^= 3; at+4 <= len(m) {
				binary.LittleEndian.PutUint32(m[at:], edges[random.IntN(len(edges))])
			}
		case 3:
			if m = m[:at]; len(m) < 4 {
				return bytes.Clone(message)
			}
		case 4:
			m = append(m, m[at:]...)
		case 5:
			end := at + random.IntN(len(m)-at)
			m = append(m[:at:at], m[end:]...)
			if len(m) < 4 {
				return bytes.Clone(message)
			}
		case 6:
			copy(m[at:], message[random.IntN(len(message)):])
		}
	}
	return m[:min(len(m), 60_000)]
}

// untagged is the configuration of a participant on fixed ports and without a tag, as
// the recorded ones have it.
func untagged(index int) string {
	return fmt.Sprintf(`<General>
<Interfaces><NetworkInterface address="127.0.0.1"/></Interfaces><AllowMulticast>false</AllowMulticast>
</General>
<Discovery>
<ExternalDomainId>%d</ExternalDomainId><ParticipantIndex>%d</ParticipantIndex>
<MaxAutoParticipantIndex>10</MaxAutoParticipantIndex><Peers><Peer address="127.0.0.1"/></Peers>
</Discovery>`, wireDomain, index)
}

// A process that gets malformed messages on all its ports continues to serve others, also one on Fast DDS.
func TestMutatedMessages(t *testing.T) {
	quiet := "<Tracing><Verbosity>none</Verbosity></Tracing>"
	for _, v := range []struct {
		name            string
		index, messages int // of the victim's ports; how many it gets
		start           func(testing.TB, string, string) (*exec.Cmd, string)
	}{{"Cyclone DDS", 7, 10_000, other}, {"Fast DDS", 0, 30_000, onFastDDS}} {
		t.Run(v.name, func(t *testing.T) {
			_, guid := v.start(t, "echo", untagged(7)+quiet)
			victim, err := hex.DecodeString(guid)
			if err != nil {
				t.Fatal(err)
			}
			sockets := socketsTo(t, v.index)
			assault(t, sockets, v.messages, victim[:12], recorded(t))
			capture := filepath.Join(t.TempDir(), "capture.pcap")
			talk(t, 2, untagged(8)+
				"<Tracing><Verbosity>none</Verbosity><PacketCaptureFile>"+capture+"</PacketCaptureFile></Tracing>")
			// Now with messages of a participant that it knows, and its own: both are still connected.
			assault(t, sockets, v.messages, victim[:12], captured(t, capture))
			talk(t, 3, untagged(9))
		})
	}
}

// socketsTo are those to a participant's ports: RTPS 2.3, 9.6.1.1, meta traffic and data.
func socketsTo(t *testing.T, index int) (sockets []net.Conn) {
	t.Helper()
	for _, offset := range []int{10, 11} {
		c, err := net.DialUDP("udp", nil, &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1),
			Port: 7400 + 250*wireDomain + offset + 2*index})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		sockets = append(sockets, c)
	}
	return sockets
}

// assault sends messages as they are, then malformed ones, n in all.
func assault(t *testing.T, sockets []net.Conn, n int, victim []byte, messages [][]byte) {
	t.Helper()
	random := rand.New(rand.NewPCG(5, 6))
	for i := range n {
		m := addressed(messages[random.IntN(len(messages))], victim)
		if i >= len(messages) { // first as they are, so that the victim discovers a peer
			m = mutated(random, m)
		}
		if _, err := sockets[i%2].Write(m); err != nil {
			t.Fatalf("message %d: nobody listens any more: %v", i, err)
		}
		if i%50 == 0 {
			time.Sleep(time.Millisecond) // or most are lost in the socket
		}
	}
}

// talk has samples echoed; the participant lives until the test ends. What the victim makes
// of malformed messages comes back too, and is passed over: a talk's samples are its own.
func talk(t *testing.T, domain int, xml string) {
	t.Helper()
	p := open(t, Config{Domain: domain, XML: xml})
	w, r := newWriter(t, p, bytesTopic("ping"), keepAll), newReader(t, p, bytesTopic("pong"), keepAll)
	eventually(t, "the victim is there", func() bool { return w.Status().Matched >= 1 && r.Status().Matched >= 1 })
	write := func(n int) (answered func() bool) {
		sample := bytes.Repeat([]byte{byte(domain)}, n)
		copy(sample, []byte{0, 1, 0, 0})
		if err := w.Write(sample, 0); err != nil {
			t.Fatal(err)
		}
		return func() bool {
			same := false
			_, err := r.Take(1000, func(s *dds.Sample) { same = same || bytes.Equal(s.Data, sample) })
			return same && err == nil
		}
	}
	// The victim answers nobody whose reader it has not yet discovered, so the first is repeated.
	eventually(t, "the victim answers", func() bool { return write(5)() })
	for _, n := range []int{6, 7, 8, 9, 1000, 200_000} { // the last in fragments
		eventually(t, fmt.Sprintf("the victim answers %d bytes", n), write(n))
	}
}

// captured reads the RTPS messages of a packet capture by Cyclone DDS: a header of 24
// bytes, then records of 16 bytes and a packet. Lengths are little-endian.
func captured(t *testing.T, path string) [][]byte {
	t.Helper()
	all, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var messages [][]byte
	for all = all[24:]; len(all) > 16; {
		n := min(int(binary.LittleEndian.Uint32(all[8:])), len(all)-16)
		packet := all[16 : 16+n]
		all = all[16+n:]
		if at := bytes.Index(packet, []byte("RTPS")); at > 0 {
			messages = append(messages, packet[at:])
		}
	}
	if len(messages) < 20 {
		t.Fatalf("%d messages were captured", len(messages))
	}
	return messages
}
