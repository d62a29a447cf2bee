/* Loaded before libc: the program's clock on the wall stands CLOCK_SKEW_S seconds away from the machine's. What measures time is left alone. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *now) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  int failed = real(clock, now);
  const char *skew = getenv("CLOCK_SKEW_S");
  if (!failed && skew && clock == CLOCK_REALTIME) now->tv_sec += atoll(skew);
  return failed;
}
