// Says which bound of what comes from the network does not hold.
#include "../../shim/bounds.hpp"

#include <cstdio>

int failures;

void expect(bool holds, const char *what) {
	if (!holds) {
		std::printf("%s\n", what);
		failures++;
	}
}

int main() {
	const form::Writer ours{1}, others{2};
	const uint64_t large = 12 << 20, fragments = 100;
	const uint64_t most = 16 << 20;
	form::Begun b;
	expect(b.admits(ours, 1, 1, fragments, large, most), "a large sample begins");
	expect(!b.admits(ours, 2, 1, fragments, large, most), "a second one waits");
	expect(b.admits(others, 2, 1, fragments, large, most), "that of another writer begins");
	expect(b.admits(ours, 1, fragments - 1, fragments, large, most), "the first goes on");
	expect(b.admits(ours, 2, 1, fragments, large, most), "the second begins once the first is whole");
	expect(b.admits(ours, 1, 1, fragments, large, most), "a fragment of the first may come again");
	expect(!b.admits(ours, 3, 1, fragments, large, most), "a third one waits");
	b.gone(ours, 3);
	expect(b.admits(ours, 3, 1, fragments, large, most), "the third begins where the second is no more");
	b.gone(ours, 4);
	expect(b.admits(ours, 4, 1, fragments, 4 * large, most), "one that is larger than the bound begins alone");
	b.gone(ours, 5);
	int begun = 0;
	for (int sequence = 5; sequence < 5000; sequence++)
		begun += b.admits(ours, sequence, 1, fragments, 1000, most);
	expect(begun > 100 && begun < 400, "small ones are bounded by their number");
	return failures;
}
