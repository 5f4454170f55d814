// What the listeners of Fast DDS tell.
#ifndef VND_LISTEN_HPP
#define VND_LISTEN_HPP

#include "entity.hpp"

#include <thread>

// note reports an event of e, whose state f changes.
template<class F>
static void note(Endpoint *e, F f) {
	e->participant->waiter.report(*e, false, f);
}

void Endpoint::on_data_available(fast::DataReader *) {
	participant->waiter.report(*this, true, [] {});
}

// matched counts matches by their names: Fast DDS 2.9 lists none.
void Endpoint::matched(const rtps::InstanceHandle_t &handle, int change) {
	Guid other = guid_of(rtps::iHandle2GUID(handle));
	if (change == 0 || (ignores_local && same_participant(other, participant->guid)))
		return;
	note(this, [&] {
		if (change > 0)
			status.matched_total += matches.insert(other).second;
		else
			matches.erase(other);
		status.matched = static_cast<uint32_t>(matches.size());
		if (!leased) // Fast DDS watches over leases alone
			status.alive = status.matched;
	});
}

void Endpoint::on_subscription_matched(fast::DataReader *, const fast::SubscriptionMatchedStatus &s) {
	matched(s.last_publication_handle, s.current_count_change);
}

void Endpoint::on_publication_matched(fast::DataWriter *, const fast::PublicationMatchedStatus &s) {
	matched(s.last_subscription_handle, s.current_count_change);
}

void Endpoint::on_requested_incompatible_qos(fast::DataReader *, const fast::RequestedIncompatibleQosStatus &s) {
	note(this, [&] { status.incompatible = s.total_count, status.incompatible_policy = s.last_policy_id; });
}

void Endpoint::on_offered_incompatible_qos(fast::DataWriter *, const fast::OfferedIncompatibleQosStatus &s) {
	note(this, [&] { status.incompatible = s.total_count, status.incompatible_policy = s.last_policy_id; });
}

void Endpoint::on_requested_deadline_missed(fast::DataReader *, const fast::RequestedDeadlineMissedStatus &s) {
	note(this, [&] { status.deadline_missed = s.total_count; });
}

void Endpoint::on_offered_deadline_missed(fast::DataWriter *, const fast::OfferedDeadlineMissedStatus &s) {
	note(this, [&] { status.deadline_missed = s.total_count; });
}

void Endpoint::on_liveliness_changed(fast::DataReader *, const fast::LivelinessChangedStatus &s) {
	if (!leased)
		return;
	note(this, [&] {
		status.alive = static_cast<uint32_t>(s.alive_count);
		status.not_alive = static_cast<uint32_t>(s.not_alive_count);
	});
}

void Endpoint::on_liveliness_lost(fast::DataWriter *, const fast::LivelinessLostStatus &s) {
	note(this, [&] { status.liveliness_lost = static_cast<uint32_t>(s.total_count); });
}

void Endpoint::on_sample_lost(fast::DataReader *, const fast::SampleLostStatus &s) {
	note(this, [&] { status.samples_lost = static_cast<uint32_t>(s.total_count); });
}

// changed queues a change. An endpoint may be told of before its participant: then that is
// entered first, and its user data come as a change.
void Participant::changed(int kind, Change &&c) {
	std::lock_guard<std::mutex> locked(graph_lock);
	Guid owner = c.guid;
	if (kind != 0)
		std::memcpy(owner.data() + 12, "\0\0\1\301", 4); // RTPS 2.3, 9.3.1.3
	if (c.alive && known.insert(owner).second && kind != 0)
		changes[0].push_back(Change{true, owner, {}, {}, {}, {}});
	if (kind == 0 && !c.alive)
		known.erase(c.guid);
	if (kind == 1) {
		if (!c.alive)
			lifespans.erase(c.guid);
		else if (c.qos.lifespan != VND_INFINITE)
			lifespans[c.guid] = c.qos.lifespan;
		any_lifespan = !lifespans.empty();
	}
	changes[kind].push_back(std::move(c));
	waiter.graph_changed();
}

int64_t Participant::lifespan_of(const Guid &writer) {
	if (!any_lifespan)
		return VND_INFINITE;
	std::lock_guard<std::mutex> locked(graph_lock);
	auto found = lifespans.find(writer);
	return found == lifespans.end() ? VND_INFINITE : found->second;
}

static int64_t ns(const eprosima::fastrtps::Duration_t &d) {
	return d == eprosima::fastrtps::c_TimeInfinite ? VND_INFINITE : d.to_ns();
}

// qos_of is what a peer announced. Fast DDS announces no history.
template<class Qos>
static vnd_qos qos_of(const Qos &q) {
	vnd_qos v = {};
	v.reliable = q.m_reliability.kind == fast::RELIABLE_RELIABILITY_QOS;
	v.transient_local = q.m_durability.kind != fast::VOLATILE_DURABILITY_QOS;
	v.manual_by_topic = q.m_liveliness.kind == fast::MANUAL_BY_TOPIC_LIVELINESS_QOS;
	v.max_blocking = ns(q.m_reliability.max_blocking_time);
	v.deadline = ns(q.m_deadline.period);
	v.lifespan = ns(q.m_lifespan.duration);
	v.lease = ns(q.m_liveliness.lease_duration);
	return v;
}

// let_listen gives a new participant time. Fast DDS announces itself before it takes what comes: an answer at once is lost,
// and the next one is due up to 3 s later. Floods of strangers take at most two fifths of this thread's time.
static void let_listen(Participant *p) {
	const int most = 20;
	auto now = std::chrono::steady_clock::now();
	if (now - p->second > std::chrono::seconds(1)) {
		p->second = now;
		p->delayed = 0;
	}
	if (p->delayed++ < most)
		std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

void Participant::on_participant_discovery(fast::DomainParticipant *, rtps::ParticipantDiscoveryInfo &&info) {
	using Info = rtps::ParticipantDiscoveryInfo;
	if (info.status == Info::DISCOVERED_PARTICIPANT)
		let_listen(this);
	bool alive = info.status == Info::DISCOVERED_PARTICIPANT || info.status == Info::CHANGED_QOS_PARTICIPANT;
	const auto &data = info.info.m_userData;
	changed(0, Change{alive, guid_of(info.info.m_guid), {}, {}, {data.begin(), data.end()}, {}});
}

template<class Proxy>
static Change change_of(const Proxy &p, bool alive) {
	const auto &data = p.m_qos.m_userData;
	return Change{alive, guid_of(p.guid()), p.topicName().c_str(), p.typeName().c_str(),
		{data.begin(), data.end()}, qos_of(p.m_qos)};
}

// The participant's own endpoints are entered where they are opened.
void Participant::on_publisher_discovery(fast::DomainParticipant *, rtps::WriterDiscoveryInfo &&info) {
	if (!same_participant(guid_of(info.info.guid()), guid))
		changed(1, change_of(info.info, info.status != rtps::WriterDiscoveryInfo::REMOVED_WRITER));
}

void Participant::on_subscriber_discovery(fast::DomainParticipant *, rtps::ReaderDiscoveryInfo &&info) {
	if (!same_participant(guid_of(info.info.guid()), guid))
		changed(2, change_of(info.info, info.status != rtps::ReaderDiscoveryInfo::REMOVED_READER));
}

#endif
