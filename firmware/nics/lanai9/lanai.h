/* Special registers of a LANai 9, by negative addresses: one instruction reaches each.
 * Generated from pymodels/registers.py by `python -m firmware.build --headers`; do not edit. */
#ifndef SANLAB_LANAI_H
#define SANLAB_LANAI_H

#define SRAM_WORD 8

#define REGISTER_ISR (-0x1b0)
#define REGISTER_EIMR (-0x1a8)
#define REGISTER_IT0 (-0x1a0)
#define REGISTER_RTC (-0x198)
#define REGISTER_LAR (-0x190)
#define REGISTER_CPUC (-0x188)
#define REGISTER_PULSE (-0x148)
#define REGISTER_IT1 (-0x140)
#define REGISTER_IT2 (-0x138)
#define REGISTER_RMW (-0x130)
#define REGISTER_RMC (-0x128)
#define REGISTER_RMP (-0x120)
#define REGISTER_RML (-0x118)
#define REGISTER_SMP (-0x110)
#define REGISTER_SMH (-0x108)
#define REGISTER_SML (-0x100)
#define REGISTER_SMLT (-0x0f8)
#define REGISTER_SMC (-0x0f0)
#define REGISTER_SA (-0x0e8)
#define REGISTER_MYRINET (-0x0d0)
#define REGISTER_DEBUG (-0x0c8)
#define REGISTER_LED (-0x0c0)
#define REGISTER_WRITE_ENABLE (-0x0b0)
#define REGISTER_CLOCK (-0x008)
#define REGISTER_DMA_LIST0 (-0x180)
#define REGISTER_DMA_LIST1 (-0x178)
#define REGISTER_DMA_LIST2 (-0x170)
#define REGISTER_DMA_LIST3 (-0x168)
#define REGISTER_DOORBELL_OVERFLOWS (-0x0a8)
#define REGISTER_DMA_PROGRESS0 (-0x0a0)
#define REGISTER_DMA_PROGRESS1 (-0x098)
#define REGISTER_DMA_PROGRESS2 (-0x090)
#define REGISTER_DMA_PROGRESS3 (-0x088)
#define REGISTER_DOORBELL_PRODUCER0 (-0x080)
#define REGISTER_DOORBELL_PRODUCER1 (-0x078)
#define REGISTER_DOORBELL_PRODUCER2 (-0x070)
#define REGISTER_DOORBELL_PRODUCER3 (-0x068)
#define REGISTER_DOORBELL_CONSUMER0 (-0x060)
#define REGISTER_DOORBELL_CONSUMER1 (-0x058)
#define REGISTER_DOORBELL_CONSUMER2 (-0x050)
#define REGISTER_DOORBELL_CONSUMER3 (-0x048)
#define REGISTER_RECV_LENGTH (-0x040)
#define REGISTER_RECV_LOST (-0x038)
#define REGISTER_ERRORS (-0x030)
#define REGISTER_DMA_STATUS (-0x028)

/* What to write for what firmware means: a limit names the last word. */
#define WRITTEN_ISR(value) (value)
#define WRITTEN_EIMR(value) (value)
#define WRITTEN_IT0(value) (value)
#define WRITTEN_RTC(value) (value)
#define WRITTEN_LAR(value) (value)
#define WRITTEN_CPUC(value) (value)
#define WRITTEN_PULSE(value) (value)
#define WRITTEN_IT1(value) (value)
#define WRITTEN_IT2(value) (value)
#define WRITTEN_RMW(value) (value)
#define WRITTEN_RMC(value) (value)
#define WRITTEN_RMP(value) (value)
#define WRITTEN_RML(value) (value)
#define WRITTEN_SMP(value) (value)
#define WRITTEN_SMH(value) (value)
#define WRITTEN_SML(value) (value)
#define WRITTEN_SMLT(value) (value)
#define WRITTEN_SMC(value) (value)
#define WRITTEN_SA(value) (value)
#define WRITTEN_MYRINET(value) (value)
#define WRITTEN_DEBUG(value) (value)
#define WRITTEN_LED(value) (value)
#define WRITTEN_WRITE_ENABLE(value) (value)
#define WRITTEN_CLOCK(value) (value)
#define WRITTEN_DMA_LIST0(value) (value)
#define WRITTEN_DMA_LIST1(value) (value)
#define WRITTEN_DMA_LIST2(value) (value)
#define WRITTEN_DMA_LIST3(value) (value)
#define WRITTEN_DOORBELL_OVERFLOWS(value) (value)
#define WRITTEN_DMA_PROGRESS0(value) (value)
#define WRITTEN_DMA_PROGRESS1(value) (value)
#define WRITTEN_DMA_PROGRESS2(value) (value)
#define WRITTEN_DMA_PROGRESS3(value) (value)
#define WRITTEN_DOORBELL_PRODUCER0(value) (value)
#define WRITTEN_DOORBELL_PRODUCER1(value) (value)
#define WRITTEN_DOORBELL_PRODUCER2(value) (value)
#define WRITTEN_DOORBELL_PRODUCER3(value) (value)
#define WRITTEN_DOORBELL_CONSUMER0(value) (value)
#define WRITTEN_DOORBELL_CONSUMER1(value) (value)
#define WRITTEN_DOORBELL_CONSUMER2(value) (value)
#define WRITTEN_DOORBELL_CONSUMER3(value) (value)
#define WRITTEN_RECV_LENGTH(value) (value)
#define WRITTEN_RECV_LOST(value) (value)
#define WRITTEN_ERRORS(value) (value)
#define WRITTEN_DMA_STATUS(value) (value)

/* Bits of ISR. */
enum {
    ISR_BIT_HEAD = 0,
    ISR_BIT_RECV = 1,
    ISR_BIT_BUFF = 2,
    ISR_BIT_SEND = 3,
    ISR_BIT_WAKE1 = 4,
    ISR_BIT_WAKE2 = 5,
    ISR_BIT_TIME0 = 6,
    ISR_BIT_TIME1 = 7,
    ISR_BIT_ORUN1 = 8,
    ISR_BIT_ORUN2 = 9,
    ISR_BIT_ORUN4 = 10,
    ISR_BIT_NRES = 11,
    ISR_BIT_WAKE0 = 12,
    ISR_BIT_TIME2 = 13,
    ISR_BIT_MEM = 14,
    ISR_BIT_PAR = 15,
    ISR_BIT_LINK_DOWN = 16,
    ISR_BIT_DATA_SENT = 17,
    ISR_BIT_DATA_RECEIVED = 18,
    ISR_BIT_BEAT_RECEIVED = 19,
    ISR_BIT_ILLEGAL_RECEIVED = 20,
    ISR_BIT_RX_TOO_LONG = 21,
    ISR_BIT_TX_TOO_LONG = 22,
    ISR_BIT_TX_BLOCKED = 23,
    ISR_BIT_BEAT_MISSED = 24,
    ISR_BIT_DOORBELL_OVERFLOW = 25,
    ISR_BIT_DMA_ERROR = 26,
    ISR_BIT_NET_ERROR = 27,
    ISR_BIT_LANAI_SIG = 29,
    ISR_BIT_HOST_SIG = 30,
    ISR_BIT_DEBUG = 31,
};

#endif
