// The yardstick of the round trip: what C does with the same library and the same
// bytes. Usage: roundtrip echo|ping waitset|listener CONFIGURATION
// ping reads numbers: it sends as many samples at 1 kHz and prints the nanoseconds
// of each round trip. Both run until
// their input ends or they are killed. Or: roundtrip awake PROCESSOR, which keeps a
// processor from going to sleep and takes it from nobody.
#define _GNU_SOURCE // SCHED_IDLE
#include "glue.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { SIZE = 104 };

static dds_entity_t writer, reader;
static struct ddsi_sertype *written;

static void fail(const char *what, int code)
{
	fprintf(stderr, "%s: %s\n", what, dds_strretcode(-code));
	exit(1);
}

static int64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void write_sample(const void *data, uint32_t size)
{
	struct vnd_blob *b = vnd_blob_new(written, SDK_DATA, size);
	memcpy(b->data, data, size);
	int rc = dds_writecdr(writer, &b->c);
	if (rc < 0)
		fail("write", rc);
}

// take returns how many samples there were, and sends them back if asked to.
static int take(bool back)
{
	struct ddsi_serdata *samples[16];
	dds_sample_info_t infos[16];
	int valid = 0;
	int n = dds_takecdr(reader, samples, 16, infos, DDS_ANY_STATE);
	for (int i = 0; i < n; i++) {
		struct vnd_blob *b = (struct vnd_blob *)samples[i];
		if (infos[i].valid_data) {
			valid++;
			if (back)
				write_sample(b->data, b->size);
		}
		ddsi_serdata_unref(samples[i]);
	}
	return valid;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
static int64_t came;

static void on_echo(dds_entity_t r, void *arg)
{
	(void)r;
	(void)arg;
	take(true);
}

// on_pong takes the time where the sample is delivered.
static void on_pong(dds_entity_t r, void *arg)
{
	(void)r;
	(void)arg;
	if (take(false) == 0)
		return;
	pthread_mutex_lock(&lock);
	came = now();
	pthread_cond_signal(&arrived);
	pthread_mutex_unlock(&lock);
}

static dds_entity_t open_endpoint(dds_entity_t participant, const char *name, bool write, void (*on_data)(dds_entity_t, void *))
{
	struct ddsi_sertype *type = vnd_sertype_new("ddstest::msg::dds_::Bytes_");
	dds_entity_t topic = dds_create_topic_sertype(participant, name, &type, NULL, NULL, NULL);
	if (topic < 0)
		fail(name, topic);
	dds_qos_t *q = dds_create_qos();
	dds_qset_reliability(q, DDS_RELIABILITY_RELIABLE, DDS_SECS(1));
	dds_qset_history(q, DDS_HISTORY_KEEP_LAST, 10);
	dds_listener_t *l = dds_create_listener(NULL);
	if (on_data != NULL)
		dds_lset_data_available(l, on_data);
	dds_entity_t e = write ? dds_create_writer(participant, topic, q, NULL) : dds_create_reader(participant, topic, q, l);
	if (e < 0)
		fail(name, e);
	if (write)
		written = type;
	return e;
}

static int64_t trip(dds_entity_t waitset, bool listener, const void *sample)
{
	int64_t begun = now();
	came = 0;
	write_sample(sample, SIZE);
	if (!listener) {
		do
			dds_waitset_wait(waitset, NULL, 0, DDS_INFINITY);
		while (take(false) == 0);
		return now() - begun;
	}
	pthread_mutex_lock(&lock);
	while (came == 0)
		pthread_cond_wait(&arrived, &lock);
	pthread_mutex_unlock(&lock);
	return came - begun;
}

static void await_echo(void)
{
	dds_publication_matched_status_t to;
	dds_subscription_matched_status_t from;
	do {
		usleep(1000);
		dds_get_publication_matched_status(writer, &to);
		dds_get_subscription_matched_status(reader, &from);
	} while (to.current_count == 0 || from.current_count == 0);
}

static void ping(dds_entity_t waitset, bool listener)
{
	uint8_t sample[SIZE] = {0, 1, 0, 0};
	int n;
	while (scanf("%d", &n) == 1) {
		int64_t next = now();
		for (int i = 0; i < n; i++) {
			next += 1000000;
			struct timespec at = {next / 1000000000, next % 1000000000};
			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
			printf("%lld\n", (long long)trip(waitset, listener, sample));
		}
		fflush(stdout);
	}
}

static int stay_awake(int processor)
{
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(processor, &one);
	struct sched_param none = {0};
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (sched_setaffinity(0, sizeof one, &one) != 0 || sched_setscheduler(0, SCHED_IDLE, &none) != 0) {
		perror("awake");
		return 1;
	}
	puts("ready");
	fflush(stdout);
	for (;;)
		;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "awake") == 0)
		return stay_awake(atoi(argv[2]));
	if (argc < 4)
		return 2;
	bool echo = strcmp(argv[1], "echo") == 0, listener = strcmp(argv[2], "listener") == 0;
	int rc = dds_create_domain(1, argv[3]);
	if (rc < 0)
		fail("domain", rc);
	dds_entity_t participant = dds_create_participant(1, NULL, NULL);
	if (participant < 0)
		fail("participant", participant);
	writer = open_endpoint(participant, echo ? "rt/pong" : "rt/ping", true, NULL);
	reader = open_endpoint(participant, echo ? "rt/ping" : "rt/pong", false, !listener ? NULL : echo ? on_echo : on_pong);
	dds_entity_t waitset = dds_create_waitset(participant);
	dds_waitset_attach(waitset, dds_create_readcondition(reader, DDS_ANY_STATE), 0);
	if (!echo)
		await_echo();
	puts("ready");
	fflush(stdout);
	if (!echo) {
		ping(waitset, listener);
		return 0;
	}
	if (listener) {
		while (getchar() != EOF)
			;
		return 0;
	}
	for (;;) { // its parent kills it
		dds_waitset_wait(waitset, NULL, 0, DDS_INFINITY);
		take(true);
	}
}
