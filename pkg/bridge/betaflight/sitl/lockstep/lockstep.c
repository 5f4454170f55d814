/* A clock for Betaflight's SITL that its simulator turns: LD_PRELOAD this library.
 *
 * The firmware's own clock is the wall's, so that a busy machine changes how it flies, or stops its gyro task while it
 * boots. Here time is simulated. While the firmware boots, time passes as it is slept or read. From then on it stands
 * still until a state packet arrives; the packet's stamp, in seconds since the end of the boot, is the time up to which
 * it goes on. The answer, motor outputs, leaves when that time is over, and once when the boot is.
 *
 * A lock lets one thread of the firmware run at a time, and hands it over where they wait. A process so gives the same
 * outputs for the same packets, and its threads' own races are none. It has the loopback address of VND_SITL_ADDRESS
 * for itself, with the ports of the firmware, so that many can run beside one another. It ends with its parent. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOTORS_RAW = 9001, MOTORS = 9002, STATE = 9003, STICKS = 9004 };

static const int64_t read_costs = 1000;    /* ns that pass when the firmware's main thread reads the clock */
static const long loop_sleeps = 50 * 1000; /* ns, in each turn of the main loop; nothing sleeps so in the boot */
static const long tick = 2000;             /* µs on the wall in which the TCP thread sees what is to be written */

static struct {
	int (*clock_gettime)(clockid_t, struct timespec *);
	int (*nanosleep)(const struct timespec *, struct timespec *);
	int (*select)(int, fd_set *, fd_set *, fd_set *, struct timeval *);
	ssize_t (*recvfrom)(int, void *, size_t, int, struct sockaddr *, socklen_t *);
	ssize_t (*sendto)(int, const void *, size_t, int, const struct sockaddr *, socklen_t);
	int (*bind)(int, const struct sockaddr *, socklen_t);
	int (*getaddrinfo)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
	int (*pthread_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	int (*pthread_join)(pthread_t, void **);
} real;

static pthread_mutex_t baton = PTHREAD_MUTEX_INITIALIZER; /* who holds it runs */
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;  /* booted or limit has changed */
static __thread bool main_thread;
static int64_t now = 1000000000; /* ns */
static int64_t epoch, limit;     /* ns: end of the boot, and up to where time may go on */
static bool booted;
static int64_t stamp; /* ns since the epoch, of the newest state */
static bool delivered;
static int state_fd = -1, sticks_fd = -1, answer_fd = -1;
static float motors[4];
static struct sockaddr_in simulator;
static const char *address;
static pid_t parent;

__attribute__((constructor)) static void start(void)
{
	real.clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
	real.nanosleep = dlsym(RTLD_NEXT, "nanosleep");
	real.select = dlsym(RTLD_NEXT, "select");
	real.recvfrom = dlsym(RTLD_NEXT, "recvfrom");
	real.sendto = dlsym(RTLD_NEXT, "sendto");
	real.bind = dlsym(RTLD_NEXT, "bind");
	real.getaddrinfo = dlsym(RTLD_NEXT, "getaddrinfo");
	real.pthread_create = dlsym(RTLD_NEXT, "pthread_create");
	real.pthread_join = dlsym(RTLD_NEXT, "pthread_join");
	unsetenv("LD_PRELOAD");
	address = getenv("VND_SITL_ADDRESS");
	if (!address)
		address = "127.0.0.1";
	simulator.sin_family = AF_INET;
	simulator.sin_port = htons(MOTORS);
	simulator.sin_addr.s_addr = inet_addr(address);
	answer_fd = socket(AF_INET, SOCK_DGRAM, 0);
	parent = getppid();
	main_thread = true;
	pthread_mutex_lock(&baton);
}

/* wait_for_time has the main thread answer, and wait until there is time to go on. A long sleep spans many states. */
static void wait_for_time(void)
{
	while (booted && now >= limit) {
		const int64_t answered = limit;
		real.sendto(answer_fd, motors, sizeof motors, 0, (struct sockaddr *)&simulator, sizeof simulator);
		while (limit == answered)
			pthread_cond_wait(&turned, &baton);
	}
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
	if (clock != CLOCK_MONOTONIC)
		return real.clock_gettime(clock, t);
	if (main_thread) {
		wait_for_time();
		now += read_costs;
	}
	t->tv_sec = now / 1000000000;
	t->tv_nsec = now % 1000000000;
	return 0;
}

int nanosleep(const struct timespec *t, struct timespec *left)
{
	if (!main_thread) {
		pthread_mutex_unlock(&baton);
		int result = real.nanosleep(t, left);
		pthread_mutex_lock(&baton);
		return result;
	}
	now += t->tv_sec * 1000000000 + t->tv_nsec;
	if (!booted && t->tv_sec == 0 && t->tv_nsec == loop_sleeps) {
		booted = true;
		epoch = limit = now;
		pthread_cond_broadcast(&turned);
	}
	wait_for_time();
	return 0;
}

int select(int n, fd_set *r, fd_set *w, fd_set *e, struct timeval *t)
{
	struct timeval soon = {0, tick};
	if (state_fd >= 0 && r && FD_ISSET(state_fd, r)) {
		if (delivered) { /* and taken in by now */
			delivered = false;
			limit = epoch + stamp;
			pthread_cond_broadcast(&turned);
		}
		while (!booted)
			pthread_cond_wait(&turned, &baton);
	} else if (!(sticks_fd >= 0 && r && FD_ISSET(sticks_fd, r))) {
		t = &soon;
	}
	if (getppid() != parent)
		_exit(0);
	pthread_mutex_unlock(&baton);
	int result = real.select(n, r, w, e, t);
	pthread_mutex_lock(&baton);
	return result;
}

/* settle waits until the sticks that were sent before a state are taken in. */
static void settle(void)
{
	char byte;
	const struct timespec moment = {0, 5000};
	while (sticks_fd >= 0 && recv(sticks_fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0) {
		pthread_mutex_unlock(&baton);
		real.nanosleep(&moment, NULL);
		pthread_mutex_lock(&baton);
	}
}

ssize_t recvfrom(int fd, void *data, size_t size, int flags, struct sockaddr *from, socklen_t *length)
{
	if (fd == state_fd)
		settle();
	ssize_t n = real.recvfrom(fd, data, size, flags, from, length);
	double seconds;
	if (fd == state_fd && n >= (ssize_t)sizeof seconds) {
		memcpy(&seconds, data, sizeof seconds);
		stamp = (int64_t)(seconds * 1e9 + .5);
		memset(data, 0, sizeof seconds); /* by which the firmware would judge how fast the simulation runs */
		delivered = true;
	}
	return n;
}

ssize_t sendto(int fd, const void *data, size_t size, int flags, const struct sockaddr *to, socklen_t length)
{
	int port = to && to->sa_family == AF_INET ? ntohs(((const struct sockaddr_in *)to)->sin_port) : 0;
	if (port == MOTORS && size == sizeof motors)
		memcpy(motors, data, sizeof motors);
	if (port == MOTORS || port == MOTORS_RAW)
		return (ssize_t)size;
	return real.sendto(fd, data, size, flags, to, length);
}

int bind(int fd, const struct sockaddr *to, socklen_t length)
{
	if (to->sa_family != AF_INET)
		return real.bind(fd, to, length);
	struct sockaddr_in own = *(const struct sockaddr_in *)to;
	own.sin_addr = simulator.sin_addr;
	switch (ntohs(own.sin_port)) {
	case STATE:
		state_fd = fd;
		break;
	case STICKS:
		sticks_fd = fd;
		break;
	}
	return real.bind(fd, (struct sockaddr *)&own, sizeof own);
}

int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **found)
{
	return real.getaddrinfo(host ? host : address, service, hints, found);
}

struct thread {
	void *(*run)(void *);
	void *argument;
};

static void *with_baton(void *p)
{
	struct thread t = *(struct thread *)p;
	free(p);
	pthread_mutex_lock(&baton);
	void *result = t.run(t.argument);
	pthread_mutex_unlock(&baton);
	return result;
}

int pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
	struct thread *t = malloc(sizeof *t);
	if (!t)
		abort();
	*t = (struct thread){run, argument};
	return real.pthread_create(id, attributes, with_baton, t);
}

int pthread_join(pthread_t id, void **result)
{
	pthread_mutex_unlock(&baton);
	int e = real.pthread_join(id, result);
	pthread_mutex_lock(&baton);
	return e;
}
