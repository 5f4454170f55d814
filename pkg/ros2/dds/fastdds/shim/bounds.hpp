// Bounds of what messages may ask of Fast DDS over time.
#ifndef VND_BOUNDS_HPP
#define VND_BOUNDS_HPP

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>

namespace form {

using Writer = std::array<uint8_t, 16>;

// Advance bounds how many numbers are said to be gone, which Fast DDS goes through one by one. A HEARTBEAT or GAP that
// says so of more is made to say it of fewer, which is as true: its reader asks for the rest.
class Advance {
public:
	// grant is how many of n numbers may be gone now.
	int64_t grant(int64_t n) {
		std::lock_guard<std::mutex> locked(lock);
		return spend(n);
	}

	// first is the first number that a HEARTBEAT of a writer may begin with, where it says first.
	int64_t first(const Writer &writer, int64_t first) {
		if (first <= few)
			return first;
		std::lock_guard<std::mutex> locked(lock);
		if (known.size() > 10000) // strangers
			known.clear();
		int64_t &before = known[writer];
		if (first > before)
			before += spend(first - before);
		return std::max(std::min(first, before), few);
	}

private:
	static constexpr int64_t few = 256, burst = 1 << 16, a_second = 1 << 19;

	int64_t spend(int64_t n) {
		auto now = std::chrono::steady_clock::now();
		double more = std::chrono::duration<double>(now - at).count() * a_second;
		left = static_cast<int64_t>(std::min<double>(burst, static_cast<double>(left) + more));
		at = now;
		n = std::min(n, std::max(left, few));
		left = std::max<int64_t>(left - n, 0);
		return n;
	}

	std::mutex lock;
	int64_t left = burst;
	std::chrono::steady_clock::time_point at = std::chrono::steady_clock::now();
	std::map<Writer, int64_t> known; // first numbers that got through
};

// Begun bounds what samples of a writer take of which fragments are missing: each takes its announced size at once. A
// fragment that would begin one too many is dropped as if it was lost, and comes again from a writer that repeats.
class Begun {
public:
	// admits says whether fragments of a sample may pass: count of all that there are. Of a writer most bytes may have
	// begun, or one sample.
	bool admits(const Writer &name, int64_t sequence, uint64_t count, uint64_t all, uint64_t whole, uint64_t most) {
		std::lock_guard<std::mutex> locked(lock);
		auto now = std::chrono::steady_clock::now();
		if (writers.size() > 1000) // strangers
			writers.clear();
		Samples &of = writers[name];
		if (std::find(of.done.begin(), of.done.end(), sequence) != of.done.end())
			return true; // again
		auto at = of.begun.find(sequence);
		if (at == of.begun.end()) {
			uint64_t held = 0;
			for (auto i = of.begun.begin(); i != of.begun.end();) {
				held += i->second.whole;
				i = now - i->second.since > long_ago ? of.begun.erase(i) : std::next(i);
			}
			if (held > 0 && held + whole > most)
				return false;
			at = of.begun.emplace(sequence, Sample{whole + overhead, all, now}).first;
		}
		if (count < at->second.missing) {
			at->second.missing -= count;
			return true;
		}
		auto first = of.begun.begin();
		while (first != at && now - first->second.since > passed)
			first = of.begun.erase(first); // what does not repeat goes on without it
		of.begun.erase(at);
		of.done[of.next++ % of.done.size()] = sequence;
		return true;
	}

	// gone tells that a writer has no samples before the first any more.
	void gone(const Writer &name, int64_t first) {
		std::lock_guard<std::mutex> locked(lock);
		auto at = writers.find(name);
		if (at != writers.end())
			at->second.begun.erase(at->second.begun.begin(), at->second.begun.lower_bound(first));
	}

private:
	static constexpr uint64_t overhead = 64 << 10;
	static constexpr std::chrono::seconds passed{1}, long_ago{30};

	struct Sample {
		uint64_t whole, missing; // bytes, fragments
		std::chrono::steady_clock::time_point since;
	};
	struct Samples {
		std::map<int64_t, Sample> begun;
		std::array<int64_t, 16> done{}; // the last that got whole
		size_t next = 0;
	};
	std::mutex lock;
	std::map<Writer, Samples> writers;
};

// Bounds are those of a transport.
struct Bounds {
	Advance advance;
	Begun begun;
};

} // namespace form

#endif
