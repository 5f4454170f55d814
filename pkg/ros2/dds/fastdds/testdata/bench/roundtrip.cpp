// The yardstick of the round trip: what C++ does with Fast DDS and the same bytes, over UDP on the loopback.
// Usage: roundtrip echo|ping DOMAIN. ping reads numbers: it sends as many samples at 1 kHz and prints the nanoseconds of
// each round trip. echo runs until it is killed.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

#include <fastdds/dds/core/condition/StatusCondition.hpp>
#include <fastdds/dds/core/condition/WaitSet.hpp>
#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>

using namespace eprosima::fastdds::dds;
using namespace eprosima::fastrtps::rtps;
using Clock = std::chrono::steady_clock;

struct Sample {
	uint8_t bytes[104] = {0, 1, 0, 0};
};

class Bytes : public TopicDataType {
public:
	Bytes() {
		setName("ddstest::msg::dds_::Bytes_");
		m_typeSize = sizeof(Sample);
	}
	bool serialize(void *data, SerializedPayload_t *out) override {
		std::memcpy(out->data, data, sizeof(Sample));
		out->length = sizeof(Sample);
		return true;
	}
	bool deserialize(SerializedPayload_t *in, void *data) override {
		std::memcpy(data, in->data, sizeof(Sample));
		return true;
	}
	std::function<uint32_t()> getSerializedSizeProvider(void *) override {
		return [] { return uint32_t(sizeof(Sample)); };
	}
	void *createData() override { return new Sample; }
	void deleteData(void *data) override { delete static_cast<Sample *>(data); }
	bool getKey(void *, InstanceHandle_t *, bool) override { return false; }
};

static DomainParticipant *join(uint32_t domain) {
	DomainParticipantQos q;
	auto udp = std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>();
	udp->interfaceWhiteList = {"127.0.0.1"};
	q.transport().use_builtin_transports = false;
	q.transport().user_transports = {udp};
	for (uint32_t i = 0; i < 4; i++) { // no multicast here: the ports of participants 0 to 3
		Locator_t l;
		IPLocator::setIPv4(l, 127, 0, 0, 1);
		l.port = 7400 + 250 * domain + 10 + 2 * i;
		q.wire_protocol().builtin.initialPeersList.push_back(l);
	}
	return DomainParticipantFactory::get_instance()->create_participant(domain, q);
}

// take returns how many samples there were, and sends them back where a writer is given.
static int take(DataReader *reader, DataWriter *back) {
	Sample s;
	SampleInfo info;
	int n = 0;
	for (; reader->take_next_sample(&s, &info) == ReturnCode_t::RETCODE_OK; n++)
		if (back != nullptr)
			back->write(&s);
	return n;
}

int main(int argc, char **argv) {
	if (argc != 3)
		return 2;
	const bool echo = std::string(argv[1]) == "echo";
	auto *p = join(std::stoul(argv[2]));
	if (p == nullptr)
		return 1;
	TypeSupport type(new Bytes);
	type.register_type(p);
	DataWriterQos wq;
	wq.reliability().kind = RELIABLE_RELIABILITY_QOS;
	wq.history().depth = 10;
	DataReaderQos rq;
	rq.reliability().kind = RELIABLE_RELIABILITY_QOS;
	rq.history().depth = 10;
	auto *to = p->create_topic(echo ? "rt/pong" : "rt/ping", type.get_type_name(), TOPIC_QOS_DEFAULT);
	auto *from = p->create_topic(echo ? "rt/ping" : "rt/pong", type.get_type_name(), TOPIC_QOS_DEFAULT);
	auto *writer = p->create_publisher(PUBLISHER_QOS_DEFAULT)->create_datawriter(to, wq);
	auto *reader = p->create_subscriber(SUBSCRIBER_QOS_DEFAULT)->create_datareader(from, rq);
	WaitSet waiting;
	ConditionSeq active;
	reader->get_statuscondition().set_enabled_statuses(StatusMask::data_available());
	waiting.attach_condition(reader->get_statuscondition());
	while (echo) { // its parent kills it
		waiting.wait(active, eprosima::fastrtps::c_TimeInfinite);
		take(reader, writer);
	}
	PublicationMatchedStatus there;
	SubscriptionMatchedStatus here;
	do {
		std::this_thread::sleep_for(std::chrono::milliseconds(1));
		writer->get_publication_matched_status(there);
		reader->get_subscription_matched_status(here);
	} while (there.current_count == 0 || here.current_count == 0);
	std::puts("ready");
	std::fflush(stdout);
	for (int n; std::scanf("%d", &n) == 1; std::fflush(stdout)) {
		auto next = Clock::now();
		for (int i = 0; i < n; i++) {
			std::this_thread::sleep_until(next += std::chrono::milliseconds(1));
			const auto begun = Clock::now();
			Sample s;
			writer->write(&s);
			do
				waiting.wait(active, eprosima::fastrtps::c_TimeInfinite);
			while (take(reader, nullptr) == 0);
			std::printf("%lld\n", static_cast<long long>((Clock::now() - begun) / std::chrono::nanoseconds(1)));
		}
	}
}
