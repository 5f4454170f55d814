// A plain program on Fast DDS, without ROS, with services as rmw_fastrtps has them: the
// identity of a request stands in related_sample_identity. Transports are Fast DDS' own.
// service DOMAIN call calls /quad/arm (std_srvs/srv/SetBool) three times and prints the
// answers; service DOMAIN serve answers /quad/disarm until standard input ends.

#include <chrono>
#include <cstring>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <fastdds/rtps/common/WriteParams.h>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>
#include <fastdds/rtps/transport/shared_mem/SharedMemTransportDescriptor.h>

using namespace eprosima::fastdds::dds;
using namespace eprosima::fastrtps::rtps;
using Bytes = std::vector<uint8_t>;

class RawType : public TopicDataType {
public:
	explicit RawType(const char *name) {
		setName(name);
		m_typeSize = 1 << 10;
	}
	bool serialize(void *data, SerializedPayload_t *out) override {
		const auto &b = *static_cast<Bytes *>(data);
		std::memcpy(out->data, b.data(), b.size());
		out->length = b.size();
		return true;
	}
	bool deserialize(SerializedPayload_t *in, void *data) override {
		static_cast<Bytes *>(data)->assign(in->data, in->data + in->length);
		return true;
	}
	std::function<uint32_t()> getSerializedSizeProvider(void *data) override {
		return [data] { return static_cast<uint32_t>(static_cast<Bytes *>(data)->size()); };
	}
	void *createData() override { return new Bytes; }
	void deleteData(void *data) override { delete static_cast<Bytes *>(data); }
	bool getKey(void *, InstanceHandle_t *, bool) override { return false; }
};

static DomainParticipant *participant(uint32_t domain) {
	DomainParticipantQos q;
	auto udp = std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>();
	udp->interfaceWhiteList = {"127.0.0.1"}; // as ROS_LOCALHOST_ONLY has it
	q.transport().use_builtin_transports = false;
	q.transport().user_transports = {udp, std::make_shared<eprosima::fastdds::rtps::SharedMemTransportDescriptor>()};
	return DomainParticipantFactory::get_instance()->create_participant(domain, q);
}

static Topic *topic(DomainParticipant *p, const char *name, const char *type) {
	TypeSupport t(new RawType(type));
	t.register_type(p);
	return p->create_topic(name, type, TOPIC_QOS_DEFAULT);
}

static void nap() { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }

static bool take(DataReader *r, Bytes *data, SampleInfo *info) {
	return r->take_next_sample(data, info) == ReturnCode_t::RETCODE_OK && info->valid_data;
}

// call as rmw_send_request and rmw_take_response do.
static int call(DataWriter *w, DataReader *r) {
	for (SubscriptionMatchedStatus there = {}; there.current_count == 0; nap())
		r->get_subscription_matched_status(there);
	for (PublicationMatchedStatus there = {}; there.current_count == 0; nap())
		w->get_publication_matched_status(there);
	for (uint8_t on : {1, 0, 1}) {
		Bytes request{0, 1, 0, 0, on};
		WriteParams params;
		params.related_sample_identity().writer_guid() = r->guid();
		if (!w->write(&request, params))
			return 3;
		const auto number = params.sample_identity().sequence_number();
		Bytes data;
		SampleInfo info;
		while (!take(r, &data, &info) || info.related_sample_identity.writer_guid() != r->guid() ||
			info.related_sample_identity.sequence_number() != number)
			nap();
		std::cout << "answer " << int(data.at(4)) << " "
			<< std::string(reinterpret_cast<char *>(data.data()) + 12) << std::endl;
	}
	return 0;
}

// serve as rmw_take_request and rmw_send_response do.
static void serve(DataWriter *w, DataReader *r, const bool &ended) {
	for (; !ended; nap()) {
		Bytes data;
		SampleInfo info;
		if (!take(r, &data, &info))
			continue;
		WriteParams params;
		auto &to = params.related_sample_identity();
		to = info.sample_identity;
		if (info.related_sample_identity.writer_guid() != GUID_t::unknown())
			to.writer_guid() = info.related_sample_identity.writer_guid();
		Bytes answer{0, 1, 0, 0, data.at(4), 0, 0, 0, 5, 0, 0, 0, 'f', 'a', 's', 't', 0};
		w->write(&answer, params);
	}
}

int main(int, char **argv) {
	const bool calls = std::string(argv[2]) == "call";
	const char *rq = calls ? "rq/quad/armRequest" : "rq/quad/disarmRequest";
	const char *rr = calls ? "rr/quad/armReply" : "rr/quad/disarmReply";
	DomainParticipant *p = participant(std::stoul(argv[1]));
	if (p == nullptr)
		return 1;
	Topic *requests = topic(p, rq, "std_srvs::srv::dds_::SetBool_Request_");
	Topic *replies = topic(p, rr, "std_srvs::srv::dds_::SetBool_Response_");
	DataWriterQos wq;
	wq.reliability().kind = RELIABLE_RELIABILITY_QOS;
	wq.durability().kind = VOLATILE_DURABILITY_QOS;
	wq.history().depth = 10;
	wq.endpoint().history_memory_policy = PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
	DataReaderQos rq10;
	rq10.reliability().kind = RELIABLE_RELIABILITY_QOS;
	rq10.history().depth = 10;
	rq10.endpoint().history_memory_policy = PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
	auto *w = p->create_publisher(PUBLISHER_QOS_DEFAULT)->create_datawriter(calls ? requests : replies, wq);
	auto *r = p->create_subscriber(SUBSCRIBER_QOS_DEFAULT)->create_datareader(calls ? replies : requests, rq10);
	if (w == nullptr || r == nullptr)
		return 2;
	int rc = 0;
	bool ended = false;
	if (calls) {
		rc = call(w, r);
	} else {
		std::thread server([&] { serve(w, r, ended); });
		for (std::string line; std::getline(std::cin, line);) {}
		ended = true;
		server.join();
	}
	p->delete_contained_entities();
	DomainParticipantFactory::get_instance()->delete_participant(p);
	return rc;
}
