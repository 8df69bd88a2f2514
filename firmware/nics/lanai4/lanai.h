/* Special registers of a LANai 4, by negative addresses: one instruction reaches each.
 * Generated from pymodels/nics/lanai4/registers.py by `python -m firmware.build --headers`; do not edit. */
#ifndef SANLAB_LANAI_H
#define SANLAB_LANAI_H

#define SRAM_WORD 4

#define REGISTER_ISR (-0x0d8)
#define REGISTER_EIMR (-0x0d4)
#define REGISTER_IT (-0x0d0)
#define REGISTER_RTC (-0x0cc)
#define REGISTER_CKS (-0x0c8)
#define REGISTER_EAR (-0x0c4)
#define REGISTER_LAR (-0x0c0)
#define REGISTER_DMA_CTR (-0x0bc)
#define REGISTER_RMP (-0x0b8)
#define REGISTER_RML (-0x0b4)
#define REGISTER_SMP (-0x0b0)
#define REGISTER_SML (-0x0ac)
#define REGISTER_SMLT (-0x0a8)
#define REGISTER_RB (-0x0a0)
#define REGISTER_RH (-0x09c)
#define REGISTER_RW (-0x098)
#define REGISTER_SA (-0x094)
#define REGISTER_SB (-0x090)
#define REGISTER_SH (-0x08c)
#define REGISTER_SW (-0x088)
#define REGISTER_ST (-0x084)
#define REGISTER_DMA_DIR (-0x080)
#define REGISTER_DMA_STS (-0x07c)
#define REGISTER_TIMEOUT (-0x078)
#define REGISTER_MYRINET (-0x074)
#define REGISTER_DEBUG (-0x070)
#define REGISTER_LED (-0x06c)
#define REGISTER_VERSION (-0x068)
#define REGISTER_WRITE_ENABLE (-0x064)
#define REGISTER_RECV_LENGTH (-0x060)
#define REGISTER_RECV_LOST (-0x05c)
#define REGISTER_ERRORS (-0x058)
#define REGISTER_DMA_STATUS (-0x054)

/* What to write for what firmware means: a limit names the last word. */
#define WRITTEN_ISR(value) (value)
#define WRITTEN_EIMR(value) (value)
#define WRITTEN_IT(value) (value)
#define WRITTEN_RTC(value) (value)
#define WRITTEN_CKS(value) (value)
#define WRITTEN_EAR(value) (value)
#define WRITTEN_LAR(value) (value)
#define WRITTEN_DMA_CTR(value) (value)
#define WRITTEN_RMP(value) (value)
#define WRITTEN_RML(value) ((value) - SRAM_WORD)
#define WRITTEN_SMP(value) (value)
#define WRITTEN_SML(value) ((value) - SRAM_WORD)
#define WRITTEN_SMLT(value) ((value) - SRAM_WORD)
#define WRITTEN_RB(value) (value)
#define WRITTEN_RH(value) (value)
#define WRITTEN_RW(value) (value)
#define WRITTEN_SA(value) (value)
#define WRITTEN_SB(value) (value)
#define WRITTEN_SH(value) (value)
#define WRITTEN_SW(value) (value)
#define WRITTEN_ST(value) (value)
#define WRITTEN_DMA_DIR(value) (value)
#define WRITTEN_DMA_STS(value) (value)
#define WRITTEN_TIMEOUT(value) (value)
#define WRITTEN_MYRINET(value) (value)
#define WRITTEN_DEBUG(value) (value)
#define WRITTEN_LED(value) (value)
#define WRITTEN_VERSION(value) (value)
#define WRITTEN_WRITE_ENABLE(value) (value)
#define WRITTEN_RECV_LENGTH(value) (value)
#define WRITTEN_RECV_LOST(value) (value)
#define WRITTEN_ERRORS(value) (value)
#define WRITTEN_DMA_STATUS(value) (value)

/* Bits of ISR. */
enum {
    ISR_BIT_BYTE_RDY = 0,
    ISR_BIT_RECV = 1,
    ISR_BIT_BUFF = 2,
    ISR_BIT_SEND = 3,
    ISR_BIT_DMA = 4,
    ISR_BIT_TIME = 5,
    ISR_BIT_WDOG = 6,
    ISR_BIT_TAIL = 7,
    ISR_BIT_OFF_BY_1 = 8,
    ISR_BIT_OFF_BY_2 = 9,
    ISR_BIT_WAKE = 10,
    ISR_BIT_NRES = 11,
    ISR_BIT_LINK = 12,
    ISR_BIT_SEND_RDY = 13,
    ISR_BIT_HALF_RDY = 14,
    ISR_BIT_WORD_RDY = 15,
    ISR_BIT_LAN0_SIG = 16,
    ISR_BIT_LAN7_SIG = 23,
    ISR_BIT_DMA_ERROR = 26,
    ISR_BIT_NET_ERROR = 27,
    ISR_BIT_HOST_SIG = 30,
    ISR_BIT_DBG = 31,
};

#endif
