// Participants and endpoints of Fast DDS, and the samples between them.
#ifndef VND_ENTITY_HPP
#define VND_ENTITY_HPP

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantListener.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/DataWriterListener.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/DataReaderListener.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <fastdds/rtps/common/WriteParams.h>
#include <fastrtps/config.h>

#include "waiter.hpp"

#if FASTRTPS_VERSION_MAJOR != 2 || FASTRTPS_VERSION_MINOR < 5
#error "the backend of Fast DDS is written for its series 2, from 2.5 on"
#endif

namespace fast = eprosima::fastdds::dds;
namespace rtps = eprosima::fastrtps::rtps;
using eprosima::fastrtps::types::ReturnCode_t;

// Bytes is one sample: to be written, or where to put one that is taken.
struct Bytes {
	const uint8_t *out = nullptr;
	uint8_t *in = nullptr;
	uint32_t size = 0, capacity = 0;
	uint8_t *held = nullptr; // by malloc, when it does not fit
};

// BytesType carries samples of any type as bytes: no key and no type information.
class BytesType : public fast::TopicDataType {
public:
	explicit BytesType(const char *name) {
		setName(name);
		m_typeSize = 256; // what a sample takes at first
		auto_fill_type_object(false);
		auto_fill_type_information(false);
	}

	static uint32_t padded(uint32_t size) { return (size + 3u) & ~3u; }

	// As Cyclone DDS' own writers, it pads to four bytes, and says in the last two bits of
	// the options how many it added (XTypes 1.3, 7.6.3.1.2).
	bool serialize(void *data, rtps::SerializedPayload_t *to) override {
		auto b = static_cast<const Bytes *>(data);
		uint32_t n = padded(b->size);
		if (to->max_size < n)
			return false;
		std::memcpy(to->data, b->out, b->size);
		std::memset(to->data + b->size, 0, n - b->size);
		if (n != b->size)
			to->data[3] = static_cast<uint8_t>((to->data[3] & ~3u) | (n - b->size));
		to->encapsulation = (b->out[1] & 1) != 0 ? CDR_LE : CDR_BE;
		to->length = n;
		return true;
	}

	// A payload that no writer may send has size 0.
	bool deserialize(rtps::SerializedPayload_t *from, void *data) override {
		auto b = static_cast<Bytes *>(data);
		b->size = 0;
		const uint8_t *d = from->data;
		if (from->length < 4 || d[0] != 0 || d[1] > 0x0b || d[1] == 4 || d[1] == 5)
			return true;
		uint32_t padding = d[3] & 3u;
		if (from->length - 4 < padding)
			padding = 0;
		b->size = from->length - padding;
		uint8_t *to = b->in;
		if (b->size > b->capacity)
			to = b->held = static_cast<uint8_t *>(std::malloc(b->size));
		if (to == nullptr) {
			b->size = 0;
			return true;
		}
		std::memcpy(to, d, b->size);
		if (padding != 0)
			to[3] &= static_cast<uint8_t>(~3u);
		return true;
	}

	std::function<uint32_t()> getSerializedSizeProvider(void *data) override {
		uint32_t n = padded(static_cast<const Bytes *>(data)->size);
		return [n] { return n; };
	}

	void *createData() override { return new Bytes; }
	void deleteData(void *data) override { delete static_cast<Bytes *>(data); }
	bool getKey(void *, rtps::InstanceHandle_t *, bool) override { return false; }
};

// Guid in network order.
using Guid = std::array<uint8_t, 16>;

inline Guid guid_of(const rtps::GUID_t &g) {
	Guid to;
	std::memcpy(to.data(), g.guidPrefix.value, 12);
	std::memcpy(to.data() + 12, g.entityId.value, 4);
	return to;
}

inline rtps::GUID_t guid_from(const uint8_t *from) {
	rtps::GUID_t g;
	std::memcpy(g.guidPrefix.value, from, 12);
	std::memcpy(g.entityId.value, from + 12, 4);
	return g;
}

inline bool same_participant(const Guid &a, const Guid &b) { return std::memcmp(a.data(), b.data(), 12) == 0; }

// Change is a struct vnd_change with its texts.
struct Change {
	bool alive;
	Guid guid;
	std::string topic, type;
	std::vector<uint8_t> user_data;
	vnd_qos qos;
};

struct Endpoint;

// endpoints_lock lets one endpoint of the process be opened or closed at a time. Participants share
// the pools of a topic's samples: Fast DDS 2.9.1 crashed where two of them did so at once.
inline std::mutex endpoints_lock;

struct Participant : fast::DomainParticipantListener {
	Waiter waiter;
	fast::DomainParticipant *participant = nullptr;
	fast::Publisher *publisher = nullptr;
	fast::Subscriber *subscriber = nullptr;
	Guid guid{};

	struct Shared {
		fast::Topic *topic;
		int users;
	};
	// Guarded by endpoints_lock:
	std::map<std::string, Shared> topics;
	// Closed endpoints: a listener of theirs may still run.
	std::vector<std::unique_ptr<Endpoint>> ended;

	std::mutex graph_lock; // guards what follows
	std::vector<Change> changes[3];
	std::set<Guid> known; // participants
	std::map<Guid, int64_t> lifespans; // of writers, ns
	std::atomic<bool> any_lifespan{false};

	// Of on_participant_discovery, which one thread runs at a time:
	std::chrono::steady_clock::time_point second;
	int delayed = 0;

	void on_participant_discovery(fast::DomainParticipant *, rtps::ParticipantDiscoveryInfo &&info) override;
	void on_publisher_discovery(fast::DomainParticipant *, rtps::WriterDiscoveryInfo &&info) override;
	void on_subscriber_discovery(fast::DomainParticipant *, rtps::ReaderDiscoveryInfo &&info) override;
	void changed(int kind, Change &&change);
	int64_t lifespan_of(const Guid &writer);
};

struct Endpoint : Reporter, fast::DataReaderListener, fast::DataWriterListener {
	Participant *participant = nullptr;
	fast::DataWriter *writer = nullptr;
	fast::DataReader *reader = nullptr;
	std::string topic;
	Guid guid{};
	bool ignores_local = false, leased = false;
	int64_t max_blocking = 0;
	std::atomic<bool> closing{false};

	// Guarded by the waiter's lock:
	std::set<Guid> matches;

	void matched(const rtps::InstanceHandle_t &other, int change);
	void on_data_available(fast::DataReader *) override;
	void on_subscription_matched(fast::DataReader *, const fast::SubscriptionMatchedStatus &) override;
	void on_publication_matched(fast::DataWriter *, const fast::PublicationMatchedStatus &) override;
	void on_requested_incompatible_qos(fast::DataReader *, const fast::RequestedIncompatibleQosStatus &) override;
	void on_offered_incompatible_qos(fast::DataWriter *, const fast::OfferedIncompatibleQosStatus &) override;
	void on_requested_deadline_missed(fast::DataReader *, const fast::RequestedDeadlineMissedStatus &) override;
	void on_offered_deadline_missed(fast::DataWriter *, const fast::OfferedDeadlineMissedStatus &) override;
	void on_liveliness_changed(fast::DataReader *, const fast::LivelinessChangedStatus &) override;
	void on_liveliness_lost(fast::DataWriter *, const fast::LivelinessLostStatus &) override;
	void on_sample_lost(fast::DataReader *, const fast::SampleLostStatus &) override;
};

#endif
