// Endpoints, and the hot paths of their samples, as struct vnd_api has them.
#ifndef VND_ENDPOINT_HPP
#define VND_ENDPOINT_HPP

#include "entity.hpp"

namespace {

enum { FAILED = -1000, NO_MEMORY, TWO_TYPES, NO_ENDPOINT };

const char *error_text(int code) {
	switch (code) {
	case NO_MEMORY:
		return "out of memory";
	case TWO_TYPES:
		return "the topic is open in this process with another type: one is possible here";
	case NO_ENDPOINT:
		return "it refuses the endpoint; its log says why";
	default:
		return "it failed; its log says why";
	}
}

Participant *as_participant(void *p) { return static_cast<Participant *>(p); }
Endpoint *as_endpoint(void *e) { return static_cast<Endpoint *>(e); }

eprosima::fastrtps::Duration_t duration(int64_t ns) {
	const int64_t second = 1000000000;
	if (ns == VND_INFINITE || ns / second >= INT32_MAX)
		return eprosima::fastrtps::c_TimeInfinite;
	return {static_cast<int32_t>(ns / second), static_cast<uint32_t>(ns % second)};
}

// slice is how long one call of Fast DDS' write may wait: nothing interrupts it.
const int64_t slice = 3000000000;

const int64_t heartbeat = 100000000; // ns, while a sample is not acknowledged

// set sets what writers and readers have in common. The rest stays at DDS' defaults.
template<class Qos>
void set(Qos &q, const vnd_qos *v, const void *user_data, size_t n) {
	q.reliability().kind = v->reliable ? fast::RELIABLE_RELIABILITY_QOS : fast::BEST_EFFORT_RELIABILITY_QOS;
	q.reliability().max_blocking_time = duration(std::min(v->max_blocking, slice));
	q.durability().kind = v->transient_local ? fast::TRANSIENT_LOCAL_DURABILITY_QOS : fast::VOLATILE_DURABILITY_QOS;
	q.history().kind = v->keep_all ? fast::KEEP_ALL_HISTORY_QOS : fast::KEEP_LAST_HISTORY_QOS;
	q.history().depth = v->depth;
	q.resource_limits().allocated_samples = 16;
	q.resource_limits().max_samples_per_instance = std::max(v->depth, 400);
	q.deadline().period = duration(v->deadline);
	q.liveliness().kind = v->manual_by_topic ? fast::MANUAL_BY_TOPIC_LIVELINESS_QOS : fast::AUTOMATIC_LIVELINESS_QOS;
	q.liveliness().lease_duration = duration(v->lease);
	if (v->lease != VND_INFINITE)
		q.liveliness().announcement_period = duration(v->lease / 3 * 2);
	q.endpoint().history_memory_policy = rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
	q.data_sharing().off();
	auto data = static_cast<const uint8_t *>(user_data);
	q.user_data() = std::vector<rtps::octet>(data, data + n);
}

// topic_of finds or creates the participant's topic, which the caller's endpoint uses.
int topic_of(Participant *p, const char *name, const char *type, fast::Topic **topic) {
	auto found = p->topics.find(name);
	if (found != p->topics.end()) {
		if (found->second.topic->get_type_name() != type)
			return TWO_TYPES;
		found->second.users++;
		*topic = found->second.topic;
		return VND_OK;
	}
	fast::TypeSupport known = p->participant->find_type(type);
	if (known.empty())
		p->participant->register_type(fast::TypeSupport(new BytesType(type)), type);
	*topic = p->participant->create_topic(name, type, fast::TOPIC_QOS_DEFAULT);
	if (*topic == nullptr)
		return NO_ENDPOINT;
	p->topics[name] = {*topic, 1};
	return VND_OK;
}

void release_topic(Participant *p, const std::string &name) {
	auto found = p->topics.find(name);
	if (--found->second.users > 0)
		return;
	p->participant->delete_topic(found->second.topic);
	p->topics.erase(found);
}

int open_endpoint(void *participant, uint64_t id, bool writer, const char *topic, const char *type, const vnd_qos *v,
	const void *user_data, size_t n, void **endpoint, uint8_t guid[16]) {
	Participant *p = as_participant(participant);
	std::unique_ptr<Endpoint> e(new Endpoint);
	e->id = id;
	e->participant = p;
	e->topic = topic;
	e->ignores_local = v->ignore_local != 0;
	e->leased = v->lease != VND_INFINITE;
	e->max_blocking = v->max_blocking;
	std::lock_guard<std::mutex> locked(endpoints_lock);
	fast::Topic *t = nullptr;
	int rc = topic_of(p, topic, type, &t);
	if (rc != VND_OK)
		return rc;
	if (writer) {
		fast::DataWriterQos q = p->publisher->get_default_datawriter_qos();
		set(q, v, user_data, n);
		q.lifespan().duration = duration(v->lifespan);
		// As Cyclone DDS. By default a reader that missed the first heartbeat gets a kept sample 3 s later.
		q.reliable_writer_qos().times.heartbeatPeriod = duration(heartbeat);
		e->writer = p->publisher->create_datawriter(t, q, e.get());
	} else {
		fast::DataReaderQos q = p->subscriber->get_default_datareader_qos();
		set(q, v, user_data, n);
		q.resource_limits().max_samples = 0; // no limit; writers that keep all wait at 5000
		e->reader = p->subscriber->create_datareader(t, q, e.get());
	}
	if (e->writer == nullptr && e->reader == nullptr) {
		release_topic(p, topic);
		p->ended.push_back(std::move(e));
		return NO_ENDPOINT;
	}
	e->guid = guid_of(writer ? e->writer->guid() : e->reader->guid());
	std::memcpy(guid, e->guid.data(), 16);
	auto data = static_cast<const uint8_t *>(user_data);
	p->changed(writer ? 1 : 2, Change{true, e->guid, topic, type, {data, data + n}, *v});
	*endpoint = e.release();
	return VND_OK;
}

void interrupt(void *writer) { as_endpoint(writer)->closing = true; }

void close_endpoint(void *endpoint) {
	std::unique_ptr<Endpoint> e(as_endpoint(endpoint));
	Participant *p = e->participant;
	std::lock_guard<std::mutex> locked(endpoints_lock);
	p->changed(e->writer != nullptr ? 1 : 2, Change{false, e->guid, {}, {}, {}, {}});
	if (e->writer != nullptr)
		p->publisher->delete_datawriter(e->writer);
	else
		p->subscriber->delete_datareader(e->reader);
	release_topic(p, e->topic);
	p->waiter.forget(*e);
	p->ended.push_back(std::move(e));
}

void status_of(void *endpoint, vnd_status *status) {
	Endpoint *e = as_endpoint(endpoint);
	std::lock_guard<std::mutex> locked(e->participant->waiter.lock);
	*status = e->status;
	e->event = false;
}

int matched(void *endpoint, uint8_t (*guids)[16], int max) {
	Endpoint *e = as_endpoint(endpoint);
	std::lock_guard<std::mutex> locked(e->participant->waiter.lock);
	int n = 0;
	for (const Guid &g : e->matches) {
		if (n < max)
			std::memcpy(guids[n], g.data(), 16);
		n++;
	}
	return n;
}

int write(void *writer, const void *data, uint32_t size, int64_t stamp, const vnd_identity *related,
	int64_t *sequence) {
	using clock = std::chrono::steady_clock;
	Endpoint *e = as_endpoint(writer);
	Bytes b;
	b.out = static_cast<const uint8_t *>(data);
	b.size = size;
	rtps::WriteParams params;
#if FASTRTPS_VERSION_MINOR >= 7
	if (stamp != 0)
		params.source_timestamp().from_ns(stamp);
#else
	static_cast<void>(stamp); // that of writing, always
#endif
	if (related != nullptr) {
		auto &to = params.related_sample_identity();
		to.writer_guid(guid_from(related->writer));
		if (related->sequence != 0)
			to.sequence_number(rtps::SequenceNumber_t(static_cast<int32_t>(related->sequence >> 32),
				static_cast<uint32_t>(related->sequence)));
	}
	const auto wait = std::chrono::nanoseconds(std::min(e->max_blocking, slice));
	for (int64_t left = e->max_blocking;; left -= slice) {
		auto begun = clock::now();
		if (e->writer->write(&b, params)) {
			if (sequence != nullptr)
				*sequence = static_cast<int64_t>(params.sample_identity().sequence_number().to64long());
			return VND_OK;
		}
		if (clock::now() - begun < wait / 2) // it did not wait
			return FAILED;
		if (e->closing || left <= slice)
			return VND_TIMEOUT;
	}
}

// unwanted says whether a sample is of this participant though that is ignored, or too old:
// Fast DDS' readers know no lifespan of a writer.
bool unwanted(Endpoint *e, const fast::SampleInfo &info) {
	Guid writer = guid_of(info.sample_identity.writer_guid());
	if (e->ignores_local && same_participant(writer, e->participant->guid))
		return true;
	int64_t lifespan = e->participant->lifespan_of(writer);
	if (lifespan == VND_INFINITE)
		return false;
	auto now = std::chrono::system_clock::now().time_since_epoch();
	return std::chrono::nanoseconds(now).count() - info.source_timestamp.to_ns() > lifespan;
}

void describe(vnd_sample *s, const fast::SampleInfo &info) {
	auto number = [](const rtps::SampleIdentity &i) {
		bool known = i.sequence_number() != rtps::SequenceNumber_t::unknown();
		return known ? static_cast<int64_t>(i.sequence_number().to64long()) : 0;
	};
	s->source = info.source_timestamp.to_ns();
	std::memcpy(s->writer, guid_of(info.sample_identity.writer_guid()).data(), 16);
	s->sequence = number(info.sample_identity);
	std::memcpy(s->related.writer, guid_of(info.related_sample_identity.writer_guid()).data(), 16);
	s->related.sequence = number(info.related_sample_identity);
}

// settle notes whether a take left samples, so that wait reports them.
void settle(Endpoint *e, uint64_t arrivals, bool exhausted) {
	if (!exhausted) {
		fast::SampleInfo next;
		exhausted = e->reader->get_first_untaken_info(&next) != ReturnCode_t::RETCODE_OK;
	}
	std::lock_guard<std::mutex> locked(e->participant->waiter.lock);
	if (exhausted && e->arrivals == arrivals)
		e->data = false;
}

int take(void *reader, int max, vnd_sample *out, void *buffer, uint32_t capacity, bool *more) {
	Endpoint *e = as_endpoint(reader);
	uint64_t arrivals;
	{
		std::lock_guard<std::mutex> locked(e->participant->waiter.lock);
		arrivals = e->arrivals;
	}
	int n = 0;
	uint32_t used = 0;
	bool exhausted = false;
	fast::SampleInfo info;
	while (n < std::min<int>(max, VND_BATCH) && !exhausted) {
		Bytes b;
		b.in = static_cast<uint8_t *>(buffer) + used;
		b.capacity = capacity - used;
		exhausted = e->reader->take_next_sample(&b, &info) != ReturnCode_t::RETCODE_OK;
		if (exhausted || !info.valid_data || b.size == 0 || unwanted(e, info)) {
			std::free(b.held);
			continue;
		}
		out[n] = {};
		out[n].held = reinterpret_cast<uintptr_t>(b.held);
		out[n].size = b.size;
		out[n].offset = used;
		describe(&out[n++], info);
		if (b.held == nullptr)
			used += b.size;
	}
	*more = !exhausted;
	settle(e, arrivals, exhausted);
	return n;
}

void drop(uintptr_t held) { std::free(reinterpret_cast<void *>(held)); }

void copy(uintptr_t held, void *to, uint32_t size) {
	std::memcpy(to, reinterpret_cast<void *>(held), size);
	drop(held);
}

} // namespace

#endif
