/* A control block of a host DMA chain, as it stands in the SRAM. */
#ifndef SANLAB_BLOCK_H
#define SANLAB_BLOCK_H
#include "paths.h"

enum { TERMINAL = 2 }; /* flag of `next`: the chain ends before this block; or, the block is done */

struct block { u32 next, csum, len, lar, eah, eal; };

#endif
