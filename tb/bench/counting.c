/* Tells Callgrind to count from here, or to here; without Callgrind it does nothing. Python cannot: it is a row of instructions. */
#include <valgrind/callgrind.h>

void count_from_here(void) { CALLGRIND_START_INSTRUMENTATION; }
void count_to_here(void) { CALLGRIND_STOP_INSTRUMENTATION; }
