// A call of the library; `calls.c` is generated and has one function a call.

#ifndef SANLAB_PROGRAM_H
#define SANLAB_PROGRAM_H

typedef void sanlab_operator(void *in, void *inout, int *count, int *datatype);
typedef long sanlab_function(long a, long b, long c, long d, long e, long f);

// The result of a call with these words as arguments. What it will read of memory, `size` bytes, goes along.
long sanlab_call(const char *name, int number, int count, const long *words, const void *from, long size);

// Bytes of so many elements, if the handle of the datatype says it; else 0.
long sanlab_size(int count, int datatype);

// Whether this process is the one that a simulated host has started; end another one, which calls this.
int sanlab_here(void);
void sanlab_stop(const char *name);

// Simulated time in ps since the run began: that of the last result, and what looking at clocks and computing take.
long sanlab_clock(void);

// Calls: the first one, which says where the time of clocks is; sleep so many ns.
void sanlab_begin(const void *times);
void sanlab_sleep(long ns);

#endif
