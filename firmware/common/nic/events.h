/* Flags of ISR and registers that both LANais have, with the names of a LANai 9; words of SRAM. */
#ifndef SANLAB_EVENTS_H
#define SANLAB_EVENTS_H
#include "paths.h"

#if defined(EXECUTED) && !defined(REGISTER_IT0) /* a LANai 4 */

/* The host DMA has one bit, which is cleared before the next transfer starts (chains.h). */
enum { ISR_RECV = 2, ISR_BUFF = 4, ISR_SEND = 8, ISR_WAKE = 0x10, ISR_WAKE_DONE = 0, ISR_TIME = 0x20, ISR_LANAI_SIG = 1 << 16 };
#define REGISTER_IT0 REGISTER_IT
#define WRITTEN_IT0 WRITTEN_IT

#else

enum { ISR_RECV = 3, ISR_BUFF = 4, ISR_SEND = 8, ISR_WAKE = 0x10, ISR_WAKE_DONE = 0x10, ISR_TIME = 0x40, ISR_LANAI_SIG = 1 << 29 };

#endif

#ifndef SRAM_WORD /* bytes; costs are counted for a LANai 9 */
#define SRAM_WORD 8
#endif

/* Whole words among the bytes before a packet that the send engine skips (at most 7); SMP leaves them out. */
#if SRAM_WORD == 8
#define WHOLE_WORDS(bytes) 0
#else
#define WHOLE_WORDS(bytes) ((bytes) & ~(SRAM_WORD - 1u))
#endif

#endif
