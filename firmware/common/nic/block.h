/* Control block of a host DMA chain, in SRAM. */
#ifndef SANLAB_BLOCK_H
#define SANLAB_BLOCK_H
#include "paths.h"

enum { TERMINAL = 2 }; /* flag of `next`: end of the chain before this block, or finished block */

struct block { u32 next, csum, len, lar, eah, eal; };

#endif
