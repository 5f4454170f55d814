// Holds a program to AVX2: `LD_PRELOAD=build/held.so program`. CPUID faults, and the handler answers without AVX-512
// and AMX. So libraries that know no setting for it choose as on a processor with AVX2 alone. Those that the program
// links against have asked before, and one that handles SIGSEGV itself, such as Go, cannot be held. Linux on amd64,
// where /proc/cpuinfo has cpuid_fault.
//
//     gcc -O2 -shared -fPIC -o build/held.so benchmarks/peers/held.c
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <cpuid.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

static struct sigaction before;

static void fault(int signal, siginfo_t *info, void *context) {
	greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
	const unsigned char *at = (const unsigned char *)r[REG_RIP];
	if (at[0] != 0x0f || at[1] != 0xa2) { // another fault than CPUID's
		sigaction(signal, &before, 0);
		return;
	}
	unsigned leaf = r[REG_RAX], sub = r[REG_RCX], a, b, c, d;
	syscall(SYS_arch_prctl, ARCH_SET_CPUID, 1);
	__cpuid_count(leaf, sub, a, b, c, d);
	syscall(SYS_arch_prctl, ARCH_SET_CPUID, 0);
	if (leaf == 7 && sub == 0) {
		b &= ~(1u << 16 | 1u << 17 | 1u << 21 | 1u << 26 | 1u << 27 | 1u << 28 | 1u << 30 | 1u << 31);
		c &= ~(1u << 1 | 1u << 6 | 1u << 11 | 1u << 12 | 1u << 14);
		d &= ~(1u << 2 | 1u << 3 | 1u << 8 | 1u << 22 | 1u << 23 | 1u << 24 | 1u << 25);
	} else if (leaf == 7 && sub == 1) {
		a = d = 0; // AVX-VNNI, bfloat16, AMX of half precision, AVX10
	} else if (leaf == 0xd && sub == 0) {
		a &= 7; // the states of x87, SSE and AVX
	} else if (leaf == 0x1d || leaf == 0x1e || leaf == 0x24) {
		a = b = c = d = 0; // tiles, AVX10
	}
	r[REG_RAX] = a, r[REG_RBX] = b, r[REG_RCX] = c, r[REG_RDX] = d;
	r[REG_RIP] += 2;
}

__attribute__((constructor)) static void hold(void) {
	struct sigaction s = {.sa_sigaction = fault, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK};
	if (sigaction(SIGSEGV, &s, &before) != 0 || syscall(SYS_arch_prctl, ARCH_SET_CPUID, 0) != 0) {
		perror("held: this processor's CPUID does not fault");
		exit(1);
	}
}
