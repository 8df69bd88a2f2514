// Calls of the library; `calls.c` is generated and has one function per call.

#ifndef SANLAB_PROGRAM_H
#define SANLAB_PROGRAM_H

// Function of MPI under its plain name. It is weak, so that a program or a profiling library may define its own, which
// calls the one with the prefix `P`.
#define WEAK(type, name, parameters) type name parameters __attribute__((weak, alias("P" #name)))

typedef void sanlab_operator(void *in, void *inout, int *count, int *datatype);
typedef long sanlab_function(long, long, long, long, long, long, long, long);

// Return the result of a call with these words as arguments. `size` bytes of the memory that it will read are sent with
// it.
long sanlab_call(const char *name, int number, int count, const long *words, const void *from, long size);

// Return the size of `count` elements in bytes if the handle of the datatype contains it, otherwise 0.
long sanlab_size(long count, int datatype);

// Return true if this process was started by a simulated host; end any other process that calls this.
int sanlab_here(void);
void sanlab_stop(const char *name);

// Return simulated time since the start of the run in ps: that of the last result, plus the time of clock reads and
// computing.
long sanlab_clock(void);

// First call, which passes the address of the clocks' time; sleep of a number of ns.
int sanlab_begin(const void *times);
int sanlab_sleep(long ns);

#endif
