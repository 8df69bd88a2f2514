// A call of the library; `calls.c` is generated and has one function a call.

#ifndef SANLAB_PROGRAM_H
#define SANLAB_PROGRAM_H

typedef void sanlab_operator(void *in, void *inout, int *count, int *datatype);
typedef long sanlab_function(long a, long b, long c, long d, long e, long f);

// The result of a call with these words as arguments.
long sanlab_call(const char *name, int number, int count, const long *words);

// Whether this process is the one that a simulated host has started.
int sanlab_here(void);

// Of the simulated host: ns since the run began; sleep so many.
long sanlab_clock(void);
void sanlab_sleep(long ns);

#endif
