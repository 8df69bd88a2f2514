// A call of the library; `calls.c` is generated and has one function a call.

#ifndef SANLAB_PROGRAM_H
#define SANLAB_PROGRAM_H

// A function of MPI under its plain name: weak, so that a program or a profiling library may define its own, which
// calls the one whose name has a `P` before it.
#define WEAK(type, name, parameters) type name parameters __attribute__((weak, alias("P" #name)))

typedef void sanlab_operator(void *in, void *inout, int *count, int *datatype);
typedef long sanlab_function(long, long, long, long, long, long, long, long);

// The result of a call with these words as arguments. What it will read of memory, `size` bytes, goes along.
long sanlab_call(const char *name, int number, int count, const long *words, const void *from, long size);

// Bytes of so many elements, if the handle of the datatype says it; else 0.
long sanlab_size(long count, int datatype);

// Whether this process is the one that a simulated host has started; end another one, which calls this.
int sanlab_here(void);
void sanlab_stop(const char *name);

// Simulated time in ps since the run began: that of the last result, and what looking at clocks and computing take.
long sanlab_clock(void);

// Calls: the first one, which says where the time of clocks is; sleep so many ns.
int sanlab_begin(const void *times);
int sanlab_sleep(long ns);

#endif
