// A plain program on Fast DDS, without ROS: it sends "fast N" on one topic of
// std_msgs/msg/String until standard input ends, and prints what it hears on
// another. peer DOMAIN SEND HEAR

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <string>
#include <thread>

#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/DataReaderListener.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>

using namespace eprosima::fastdds::dds;
using eprosima::fastrtps::rtps::InstanceHandle_t;
using eprosima::fastrtps::rtps::SerializedPayload_t;

// A string in CDR, by hand: header, length with the NUL, characters.
class StringType : public TopicDataType {
public:
	StringType() {
		setName("std_msgs::msg::dds_::String_");
		m_typeSize = 1 << 17;
	}
	bool serialize(void *data, SerializedPayload_t *out) override {
		const auto &s = *static_cast<std::string *>(data);
		const uint32_t n = s.size() + 1;
		std::memcpy(out->data, "\0\1\0\0", 4);
		std::memcpy(out->data + 4, &n, 4);
		std::memcpy(out->data + 8, s.c_str(), n);
		out->length = 8 + n;
		return true;
	}
	bool deserialize(SerializedPayload_t *in, void *data) override {
		uint32_t n;
		if (in->length < 9 || in->data[1] != 1)
			return false;
		std::memcpy(&n, in->data + 4, 4);
		if (n == 0 || n > in->length - 8)
			return false;
		static_cast<std::string *>(data)->assign(reinterpret_cast<char *>(in->data) + 8, n - 1);
		return true;
	}
	std::function<uint32_t()> getSerializedSizeProvider(void *data) override {
		return [data] { return static_cast<uint32_t>(static_cast<std::string *>(data)->size()) + 9; };
	}
	void *createData() override { return new std::string; }
	void deleteData(void *data) override { delete static_cast<std::string *>(data); }
	bool getKey(void *, InstanceHandle_t *, bool) override { return false; }
};

class Hearer : public DataReaderListener {
	void on_data_available(DataReader *reader) override {
		std::string s;
		SampleInfo info;
		while (reader->take_next_sample(&s, &info) == ReturnCode_t::RETCODE_OK)
			if (info.valid_data)
				std::cout << s << std::endl;
	}
};

int main(int, char **argv) {
	DomainParticipantQos pq;
	auto udp = std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>();
	udp->interfaceWhiteList = {"127.0.0.1"};
	pq.transport().use_builtin_transports = false;
	pq.transport().user_transports = {udp};
	for (uint32_t i = 0; i < 20; i++) { // no multicast here: the ports of participants 0 to 19
		eprosima::fastrtps::rtps::Locator_t l;
		eprosima::fastrtps::rtps::IPLocator::setIPv4(l, 127, 0, 0, 1);
		l.port = 7400 + 250 * std::stoul(argv[1]) + 10 + 2 * i;
		pq.wire_protocol().builtin.initialPeersList.push_back(l);
	}
	auto *p = DomainParticipantFactory::get_instance()->create_participant(std::stoul(argv[1]), pq);
	if (p == nullptr)
		return 1;
	TypeSupport type(new StringType);
	type.register_type(p);
	auto *send = p->create_topic(argv[2], type.get_type_name(), TOPIC_QOS_DEFAULT);
	auto *hear = p->create_topic(argv[3], type.get_type_name(), TOPIC_QOS_DEFAULT);
	DataWriterQos wq;
	wq.reliability().kind = RELIABLE_RELIABILITY_QOS;
	DataReaderQos rq;
	rq.reliability().kind = RELIABLE_RELIABILITY_QOS;
	Hearer hearer;
	auto *w = p->create_publisher(PUBLISHER_QOS_DEFAULT)->create_datawriter(send, wq);
	auto *r = p->create_subscriber(SUBSCRIBER_QOS_DEFAULT)->create_datareader(hear, rq, &hearer);
	if (w == nullptr || r == nullptr)
		return 2;
	std::atomic<bool> ended{false};
	std::thread watch([&] {
		std::string line;
		while (std::getline(std::cin, line)) {}
		ended = true;
	});
	for (int i = 1; !ended; i++) {
		std::string s = "fast " + std::to_string(i);
		w->write(&s);
		std::this_thread::sleep_for(std::chrono::milliseconds(100));
	}
	watch.join();
	p->delete_contained_entities();
	DomainParticipantFactory::get_instance()->delete_participant(p);
	return 0;
}
