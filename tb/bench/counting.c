/* Start or stop the counts of Callgrind; no effect without Callgrind. In C, because it is a sequence of
 * instructions. */
#include <valgrind/callgrind.h>

void count_from_here(void) { CALLGRIND_START_INSTRUMENTATION; }
void count_to_here(void) { CALLGRIND_STOP_INSTRUMENTATION; }
