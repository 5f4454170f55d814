// Listeners note which endpoints have something to report; one thread waits for them.
#ifndef VND_WAITER_HPP
#define VND_WAITER_HPP

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>

#include "native.h"

// Reporter is an endpoint as the waiter sees it.
struct Reporter {
	uint64_t id = 0;
	// Guarded by the waiter's lock:
	bool listed = false, data = false, event = false;
	uint64_t arrivals = 0;
	vnd_status status = {};
};

class Waiter {
public:
	std::mutex lock; // of every Reporter's state

	// report notes what a listener tells. note runs under the lock.
	template<class Note>
	void report(Reporter &r, bool data, Note note) {
		std::unique_lock<std::mutex> locked(lock);
		note();
		bool known = data && r.data; // then it is listed, or will be
		r.arrivals += data;
		r.data |= data;
		r.event |= !data;
		if (!known)
			list(r);
		unlock(locked, !known);
	}

	void graph_changed() { set(graph); }
	void wake() { set(woken); }

	void stop() {
		std::lock_guard<std::mutex> locked(lock);
		stopped = true;
		news.notify_all();
	}

	// wait is that of struct vnd_api.
	int wait(int64_t timeout, vnd_ready *ready, int max) {
		auto end = std::chrono::steady_clock::now() + std::chrono::nanoseconds(std::max<int64_t>(timeout, 0));
		std::unique_lock<std::mutex> locked(lock);
		int n = 0;
		for (bool early = true; early && n == 0 && !woken && !stopped;) {
			early = await(locked, timeout, end);
			n = collect(ready, max);
		}
		if (stopped)
			return VND_CLOSED;
		if (n == 0) // else all of ready may be closed by now, and the caller waits again
			woken = false;
		return n;
	}

	void forget(Reporter &r) {
		std::lock_guard<std::mutex> locked(lock);
		listed.erase(std::remove(listed.begin(), listed.end(), &r), listed.end());
		r.listed = true; // never again
	}

private:
	std::condition_variable news;
	std::deque<Reporter *> listed;
	bool graph = false, woken = false, stopped = false;
	int waiting = 0;

	void list(Reporter &r) {
		if (!r.listed)
			listed.push_back(&r);
		r.listed = true;
	}

	void set(bool &flag) {
		std::unique_lock<std::mutex> locked(lock);
		flag = true;
		unlock(locked, true);
	}

	// unlock unlocks before it wakes the waiting thread, which would else wait for the lock.
	void unlock(std::unique_lock<std::mutex> &locked, bool anything) {
		bool signal = anything && waiting > 0;
		locked.unlock();
		if (signal)
			news.notify_one();
	}

	// await blocks until there may be something to collect; false when the time is over.
	bool await(std::unique_lock<std::mutex> &locked, int64_t timeout, std::chrono::steady_clock::time_point end) {
		auto any = [this] { return !listed.empty() || graph || woken || stopped; };
		bool early = timeout != 0;
		waiting++;
		if (timeout < 0)
			news.wait(locked, any);
		else if (timeout > 0)
			early = news.wait_until(locked, end, any);
		waiting--;
		return early;
	}

	// collect reports each listed endpoint once. One with samples moves to the end of the
	// list, so that endpoints that do not fit are reported next time.
	int collect(vnd_ready *ready, int max) {
		int n = 0;
		for (size_t left = listed.size(); left > 0 && n < max; left--) {
			Reporter *r = listed.front();
			listed.pop_front();
			r->listed = false;
			if (r->data || r->event)
				ready[n++] = vnd_ready{r->id, r->data, r->event};
			r->event = false;
			if (r->data)
				list(*r);
		}
		if (graph && n < max) {
			ready[n++] = vnd_ready{0, false, true};
			graph = false;
		}
		return n;
	}
};

#endif
