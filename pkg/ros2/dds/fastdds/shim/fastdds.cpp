// Fast DDS behind the functions of native.h. Nothing here calls Go.

#include "endpoint.hpp"
#include "filter.hpp"
#include "listen.hpp"
#include "vnd_fastdds.h"

#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/log/Log.hpp>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>
#include <fastrtps/utils/IPLocator.h>
#include <fastrtps/xmlparser/XMLProfileManager.h>

#include <sstream>

namespace {

// Lines collects the log of Fast DDS, and otherwise writes at most lines_most of a second
// to the standard error: a stranger may send what has it write one for each packet.
class Lines : public fast::LogConsumer {
public:
	static std::mutex lock;
	static std::string *text; // where to collect

	void Consume(const fast::Log::Entry &entry) override {
		const long lines_most = 20;
		std::lock_guard<std::mutex> locked(lock);
		if (text != nullptr) {
			*text += entry.message + "\n";
			return;
		}
		auto now = std::chrono::steady_clock::now();
		if (now - second > std::chrono::seconds(1)) {
			if (lines > lines_most)
				std::fprintf(stderr, "%ld more lines of Fast DDS in that second are left out\n", lines - lines_most);
			second = now;
			lines = 0;
		}
		if (lines++ < lines_most)
			std::fprintf(stderr, "Fast DDS: %s\n", entry.message.c_str());
	}

private:
	std::chrono::steady_clock::time_point second;
	long lines = 0;
};

std::mutex Lines::lock;
std::string *Lines::text;

void collect(std::string *text) {
	fast::Log::Flush();
	std::lock_guard<std::mutex> locked(Lines::lock);
	Lines::text = text;
}

// prepare sets what holds for all participants: all samples pass through sockets. It returns what Fast DDS has against
// profiles, which would take our transport away for nothing.
const std::string &prepare() {
	static std::once_flag once;
	static std::string wrong;
	std::call_once(once, [] {
		fast::Log::ClearConsumers();
		fast::Log::RegisterConsumer(std::unique_ptr<fast::LogConsumer>(new Lines));
		fast::Log::SetVerbosity(fast::Log::Error);
		collect(&wrong);
		fast::DomainParticipantFactory::get_instance()->load_profiles();
		collect(nullptr);
		eprosima::fastrtps::LibrarySettingsAttributes settings;
		settings.intraprocess_delivery = eprosima::fastrtps::INTRAPROCESS_OFF;
		eprosima::fastrtps::xmlparser::XMLProfileManager::library_settings(settings);
	});
	return wrong;
}

rtps::Locator_t locator(const std::string &address) {
	rtps::Locator_t l;
	rtps::IPLocator::setIPv4(l, address);
	return l; // port 0: those of all participants up to the transport's limit
}

// reach sets how others are found, over UDP alone: shared memory outlives killed processes.
void reach(const vnd_fast_config *c, fast::DomainParticipantQos &q) {
	auto &builtin = q.wire_protocol().builtin;
	builtin.discovery_config.initial_announcements.count = 20; // one in 0.1 s; then one in 3 s, which 5 may miss
	if (c->alone)
		builtin.discovery_config.ignoreParticipantFlags = static_cast<rtps::ParticipantFilteringFlags_t>(
			rtps::FILTER_DIFFERENT_HOST | rtps::FILTER_DIFFERENT_PROCESS);
	std::istringstream peers(c->peers);
	for (std::string peer; std::getline(peers, peer);)
		builtin.initialPeersList.push_back(locator(peer));
	if (c->localhost)
		builtin.initialPeersList.push_back(locator("127.0.0.1"));
	if (c->unicast)
		builtin.metatrafficUnicastLocatorList.push_back(rtps::Locator_t()); // in place of that of multicast
	else if (!builtin.initialPeersList.empty())
		builtin.initialPeersList.push_back(locator("239.255.0.1"));
	if (c->profile)
		return;
	auto udp = std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>();
	udp->maxInitialPeersRange = 100;
	udp->receiveBufferSize = 1 << 20; // as Cyclone DDS asks for, within net.core.rmem_max
	if (c->localhost)
		udp->interfaceWhiteList.emplace_back("127.0.0.1");
	q.transport().use_builtin_transports = false;
	q.transport().user_transports.push_back(std::make_shared<FilterDescriptor>(udp));
}

bool create(Participant *p, const vnd_fast_config *c) {
	auto factory = fast::DomainParticipantFactory::get_instance();
	fast::DomainParticipantQos q = factory->get_default_participant_qos();
	reach(c, q);
	auto data = static_cast<const uint8_t *>(c->user_data);
	q.user_data() = std::vector<rtps::octet>(data, data + c->user_data_size);
	q.wire_protocol().builtin.readerHistoryMemoryPolicy = rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
	q.wire_protocol().builtin.writerHistoryMemoryPolicy = rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
	std::istringstream properties(c->properties);
	for (std::string name, value; std::getline(properties, name) && std::getline(properties, value);)
		q.properties().properties().emplace_back(name, value);
	p->participant = factory->create_participant(c->domain, q, p, fast::StatusMask::none());
	if (p->participant == nullptr)
		return false;
	p->publisher = p->participant->create_publisher(fast::PUBLISHER_QOS_DEFAULT);
	p->subscriber = p->participant->create_subscriber(fast::SUBSCRIBER_QOS_DEFAULT);
	return p->publisher != nullptr && p->subscriber != nullptr;
}

void close_participant(void *participant) {
	Participant *p = as_participant(participant);
	if (p->participant != nullptr) {
		p->participant->set_listener(nullptr);
		p->participant->delete_contained_entities();
		fast::DomainParticipantFactory::get_instance()->delete_participant(p->participant);
	}
	delete p;
}

void *open_participant(const vnd_fast_config *c, uint8_t guid[16], char *text, size_t n) {
	if (HAVE_SECURITY == 0 && c->properties[0] != '\0') { // it would open one without a word, and without keys
		std::snprintf(text, n, "%s here is built without security", FASTRTPS_VERSION_STR);
		return nullptr;
	}
	static std::mutex one; // collects the log
	std::lock_guard<std::mutex> locked(one);
	std::string log = prepare();
	auto p = new Participant;
	bool opened = false;
	if (log.empty()) {
		collect(&log);
		opened = create(p, c);
		collect(nullptr);
	}
	std::snprintf(text, n, "%s", log.c_str());
	if (!opened) {
		close_participant(p);
		return nullptr;
	}
	p->guid = guid_of(p->participant->guid());
	std::memcpy(guid, p->guid.data(), 16);
	auto data = static_cast<const uint8_t *>(c->user_data);
	p->changed(0, Change{true, p->guid, {}, {}, {data, data + c->user_data_size}, {}});
	return p;
}

int take_changes(void *participant, int kind, vnd_change *changes, void **loan) {
	Participant *p = as_participant(participant);
	std::lock_guard<std::mutex> locked(p->graph_lock);
	auto &queue = p->changes[kind];
	size_t n = std::min<size_t>(queue.size(), VND_CHANGES);
	if (n == 0)
		return 0;
	auto lent = new std::vector<Change>(std::make_move_iterator(queue.begin()), std::make_move_iterator(queue.begin() + n));
	queue.erase(queue.begin(), queue.begin() + n);
	*loan = lent;
	for (size_t i = 0; i < n; i++) {
		const Change &c = (*lent)[i];
		changes[i] = {};
		changes[i].alive = c.alive;
		std::memcpy(changes[i].guid, c.guid.data(), 16);
		changes[i].topic = c.topic.c_str();
		changes[i].type = c.type.c_str();
		changes[i].user_data = c.user_data.data();
		changes[i].user_data_size = c.user_data.size();
		changes[i].qos = c.qos;
	}
	return static_cast<int>(n);
}

void return_changes(void *, int, vnd_change *, int, void **loan) { delete static_cast<std::vector<Change> *>(*loan); }

int wait(void *p, int64_t timeout, vnd_ready *ready, int max) {
	return as_participant(p)->waiter.wait(timeout, ready, max);
}

void wake(void *p) { as_participant(p)->waiter.wake(); }
void stop(void *p) { as_participant(p)->waiter.stop(); }

const vnd_api api = {"Fast DDS", wait, wake, stop, close_participant, open_endpoint, interrupt, close_endpoint,
	error_text, status_of, matched, write, take, copy, drop, take_changes, return_changes};

} // namespace

const vnd_fast_library *vnd_fastdds(void) {
	static const vnd_fast_library library = {VND_API_VERSION, FASTRTPS_VERSION_STR, &api, open_participant};
	return &library;
}
