/* Paths of a layer compiled for the local machine: values of special registers, and the reason for leaving a path,
 * are visible to Python. */
#include "paths.h"
#define PATHS_NIC
#undef OFF_PATH
#undef LOOP_AGAIN
#undef REGISTER_SAMPLE
#undef REGISTER_READ
#undef REGISTER_WRITE

struct register_access { const char *name; u32 value; };

const char *together_off[8];
u32 together_offs;
struct register_access together_written[64];
u32 together_writes;
struct register_access together_read[16];
u32 together_reads;

static u32 register_read(const char *name) {
    for (u32 i = 0; i < together_reads; i++)
        if (!__builtin_strcmp(together_read[i].name, name)) return together_read[i].value;
    return 0;
}

#define OFF_PATH(why) (together_off[together_offs++ & 7] = (why))
#define BYTE(at) (*(u8 *)((unsigned long)(at) ^ 3))
#define LOOP_AGAIN() ((void)0)
#define REGISTER_SAMPLE(name) register_read(#name)
#define REGISTER_READ(name) register_read(#name)
#define REGISTER_WRITE(name, given) (together_written[together_writes++ & 63] = (struct register_access){#name, (u32)(unsigned long)(given)})
