// What comes from the network is looked at before Fast DDS sees it: whether it has the form of RTPS 2.3, §9.4, and does
// not keep the process busy for good. One packet may end a process of Fast DDS 2.9, or stop it. What is encrypted passes.
#ifndef VND_FILTER_HPP
#define VND_FILTER_HPP

#include "bounds.hpp"

#include <cstddef>
#include <cstring>

#include <fastdds/rtps/transport/ChainingTransport.h>
#include <fastdds/rtps/transport/ChainingTransportDescriptor.h>

namespace form {

// Limits that RTPS does not have.
const uint32_t sample_most = 64 << 20;  // bytes of a sample in fragments
const uint32_t builtin_most = 64 << 10; // bytes of one of what comes with each participant, as discovery

// View is a part of a message. What is read behind its end is 0, and makes it bad.
struct View {
	uint8_t *at;
	size_t left;
	bool little;
	bool bad = false;

	uint8_t *skip(size_t n) {
		static uint8_t none[16];
		if (n > left) {
			bad = true;
			left = 0;
			return n <= sizeof none ? none : nullptr;
		}
		uint8_t *p = at;
		at += n;
		left -= n;
		return p;
	}
	uint16_t u16() {
		const uint8_t *p = skip(2);
		return static_cast<uint16_t>(little ? p[0] | p[1] << 8 : p[0] << 8 | p[1]);
	}
	uint32_t u32() {
		uint32_t a = u16(), b = u16();
		return little ? a | b << 16 : a << 16 | b;
	}
	void bytes() { // a CDR string or sequence of bytes
		size_t n = u32();
		bad = bad || n > left;
		if (!bad)
			skip(std::min((n + 3) & ~size_t(3), left));
	}
	uint32_t entity() { // big-endian
		const uint8_t *p = skip(4);
		return uint32_t(p[0]) << 24 | p[1] << 16 | p[2] << 8 | p[3];
	}
	int64_t number() {
		int64_t high = static_cast<int32_t>(u32());
		return high * (int64_t(1) << 32) + u32();
	}
};

// properties says whether the properties of a list end within v: pairs of strings, then of strings and bytes.
inline bool properties(View v) {
	for (int kind = 0; kind < 2 && v.left >= 4; kind++) {
		for (uint64_t n = 2 * uint64_t(v.u32()); n > 0 && !v.bad; n--)
			v.bytes();
	}
	return !v.bad;
}

// fits says whether what a parameter has in it ends within v.
inline bool fits(uint16_t id, View v) {
	switch (id) {
	case 0x1001: // tokens of identity and permissions
	case 0x1002:
		v.bytes();
		return !v.bad && properties(v);
	case 0x59:
		return properties(v);
	case 0x05: // names of topic, type and participant
	case 0x07:
	case 0x62:
		v.bytes();
	}
	return !v.bad;
}

// list says whether v begins with a list of parameters, and goes to its end.
inline bool list(View &v) {
	for (;;) {
		uint16_t id = v.u16(), n = v.u16();
		if (v.bad)
			return false;
		if (id == 1) // the end
			return true;
		View value{v.at, n, v.little};
		v.skip((n + 3u) & ~3u);
		if (v.bad || !fits(id, value))
			return false;
	}
}

inline bool discovery(uint32_t writer) { return writer == 0x100c2 || writer == 0x3c2 || writer == 0x4c2; }

// payload says whether v is a sample of a writer: its encapsulation, and a list where discovery sends one.
inline bool payload(View v, uint32_t writer) {
	const uint8_t *kind = v.skip(4);
	if (v.bad)
		return false;
	if (!discovery(writer) || kind[0] != 0 || (kind[1] != 2 && kind[1] != 3))
		return true;
	v.little = kind[1] == 3;
	return list(v);
}

// parameters are those inline, after octets that say where they begin.
inline bool parameters(View &v, uint16_t octets, uint16_t least, bool inline_qos) {
	return octets >= least && v.skip(octets - least) != nullptr && !v.bad && (!inline_qos || list(v));
}

inline bool data(View v, uint8_t flags) {
	v.u16();
	uint16_t octets = v.u16();
	v.entity();
	uint32_t writer = v.entity();
	if (v.number() <= 0 || v.bad || !parameters(v, octets, 16, flags & 2))
		return false;
	bool of_data = flags & 4, of_key = flags & 8;
	if (of_data && of_key)
		return false;
	return of_data ? payload(v, writer) : !of_key || v.left >= 4;
}

// named is the name of a writer of a participant, whose own v begins with.
inline Writer named(const uint8_t *prefix, View v) {
	Writer w{};
	std::memcpy(w.data(), prefix, 12);
	std::memcpy(w.data() + 12, v.skip(4), 4);
	return w;
}

inline bool fragments(View v, uint8_t flags, const uint8_t *prefix, Begun &begun) {
	v.u16();
	uint16_t octets = v.u16();
	v.entity();
	Writer name = named(prefix, v);
	uint32_t writer = v.entity();
	int64_t sequence = v.number();
	uint64_t first = v.u32(), count = v.u16(), size = v.u16(), whole = v.u32();
	if (v.bad || sequence <= 0 || first == 0 || count == 0 || size == 0 || whole > sample_most)
		return false;
	bool builtin = (writer & 0xc0) == 0xc0;
	if (builtin && whole > builtin_most)
		return false;
	uint64_t begin = (first - 1) * size;
	if (begin >= whole || begin + (count - 1) * size >= whole || !parameters(v, octets, 28, flags & 2))
		return false;
	return v.left >= std::min(count * size, whole - begin) &&
		begun.admits(name, sequence, count, (whole + size - 1) / size, whole, builtin ? 1 << 20 : 16 << 20);
}

// bits says whether v begins with a set of numbers after its base.
inline bool bits(View &v) {
	uint32_t n = v.u32();
	return n <= 256 && v.skip((n + 31) / 32 * 4) != nullptr && !v.bad;
}

inline void put(View v, int64_t x) {
	for (int word = 0; word < 2; word++) { // the upper half comes first
		uint32_t half = static_cast<uint32_t>(word == 0 ? x >> 32 : x);
		uint8_t *p = v.skip(4);
		for (int k = 0; k < 4; k++)
			p[k] = static_cast<uint8_t>(half >> 8 * (v.little ? k : 3 - k));
	}
}

inline bool gap(View v, Advance &advance) {
	v.skip(8);
	int64_t start = v.number();
	View base = v;
	int64_t end = v.number();
	View set = v;
	if (v.bad || start <= 0 || end < start || !bits(v))
		return false;
	int64_t granted = advance.grant(end - start);
	if (granted < end - start) {
		put(base, start + granted);
		std::memset(set.skip(4), 0, 4); // no more numbers
	}
	return true;
}

inline bool heartbeat(View v, const uint8_t *prefix, Bounds &bounds) {
	v.skip(4);
	Writer writer = named(prefix, v);
	v.entity();
	View begin = v;
	int64_t first = v.number(), last = v.number();
	v.u32();
	if (v.bad || first <= 0 || last < first - 1)
		return false;
	first = bounds.advance.first(writer, first);
	put(begin, first);
	bounds.begun.gone(writer, first);
	return true;
}

inline bool acknowledgement(View v, bool of_fragments) {
	v.skip(8);
	bool valid = v.number() >= 0;
	if (of_fragments)
		v.u32();
	valid = valid && bits(v);
	v.u32();
	return valid && !v.bad;
}

// submessage says whether v is the body of one, the last or not. prefix is that of the message's participant.
inline bool submessage(uint8_t id, uint8_t flags, View v, bool last, const uint8_t *&prefix, Bounds &bounds) {
	switch (id) {
	case 0x06:
	case 0x12:
		return acknowledgement(v, id == 0x12);
	case 0x07:
		return heartbeat(v, prefix, bounds);
	case 0x08:
		return gap(v, bounds.advance);
	case 0x09: // INFO_TS
		return (flags & 2) != 0 || v.left >= 8;
	case 0x0c: // INFO_SRC
		prefix = v.at + 8;
		return v.left >= 20;
	case 0x0e: // INFO_DST
		return v.left >= 12;
	case 0x13: // HEARTBEAT_FRAG
		return v.left >= 24;
	case 0x15:
		return data(v, flags);
	case 0x16:
		return fragments(v, flags, prefix, bounds.begun);
	default: // statistics of Fast DDS have to be the last
		return id < 0x80 || last;
	}
}

// holds says whether a message has its form.
inline bool holds(uint8_t *message, size_t n, Bounds &bounds) {
	if (n < 20 || std::memcmp(message, "RTPS", 4) != 0)
		return false;
	View v{message + 20, n - 20, true};
	const uint8_t *prefix = message + 8;
	while (v.left > 0) {
		const uint8_t *header = v.skip(2);
		v.little = header[1] & 1;
		size_t size = v.u16();
		if (v.bad)
			return false;
		if (size == 0 && header[0] != 0x01 && header[0] != 0x09) // RTPS 2.3, §9.4.5.1.3: up to the end
			size = v.left;
		View body{v.at, size, v.little};
		if (size > v.left || !submessage(header[0], header[1], body, size == v.left, prefix, bounds))
			return false;
		v.skip(std::min((size + 3) & ~size_t(3), v.left));
	}
	return true;
}

} // namespace form

// FilterDescriptor makes a Filter over another transport.
struct FilterDescriptor : eprosima::fastdds::rtps::ChainingTransportDescriptor {
	using ChainingTransportDescriptor::ChainingTransportDescriptor;

	eprosima::fastdds::rtps::TransportInterface *create_transport() const override;
};

// Filter is a transport that drops messages without form.
class Filter : public eprosima::fastdds::rtps::ChainingTransport {
public:
	explicit Filter(const FilterDescriptor &d) : ChainingTransport(d), descriptor(d) {}

	FilterDescriptor *get_configuration() override { return &descriptor; }

	bool send(rtps::SenderResource *to, const rtps::octet *message, uint32_t n, rtps::LocatorsIterator *begin,
		rtps::LocatorsIterator *end, const std::chrono::steady_clock::time_point &until) override {
		return to->send(message, n, begin, end, until);
	}

	void receive(eprosima::fastdds::rtps::TransportReceiverInterface *to, const rtps::octet *message, uint32_t n,
		const rtps::Locator_t &local, const rtps::Locator_t &remote) override {
		if (form::holds(const_cast<rtps::octet *>(message), n, bounds)) // the buffer of the transport below
			to->OnDataReceived(message, n, local, remote);
	}

private:
	FilterDescriptor descriptor;
	form::Bounds bounds;
};

inline eprosima::fastdds::rtps::TransportInterface *FilterDescriptor::create_transport() const {
	return new Filter(*this);
}

#endif
