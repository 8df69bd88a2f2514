// Register map of the NIC. GENERATED from pymodels/registers.py by `python -m pymodels.registers --sv`;
// edit that file, never this one.
package myri_lanai9_pkg;
  /* verilator lint_off UNUSEDPARAM */  // a map is whole; no block uses all of it

  // Special registers of LANai 9: byte offsets, one 32-bit register every 8 bytes (fact sheet 3.3).
  localparam logic [8:0] REG_ISR = 9'h50;
  localparam logic [8:0] REG_EIMR = 9'h58;
  localparam logic [8:0] REG_IT0 = 9'h60;
  localparam logic [8:0] REG_RTC = 9'h68;
  localparam logic [8:0] REG_LAR = 9'h70;
  localparam logic [8:0] REG_CPUC = 9'h78;
  localparam logic [8:0] REG_PULSE = 9'hB8;
  localparam logic [8:0] REG_IT1 = 9'hC0;
  localparam logic [8:0] REG_IT2 = 9'hC8;
  localparam logic [8:0] REG_RMW = 9'hD0;
  localparam logic [8:0] REG_RMC = 9'hD8;
  localparam logic [8:0] REG_RMP = 9'hE0;
  localparam logic [8:0] REG_RML = 9'hE8;
  localparam logic [8:0] REG_SMP = 9'hF0;
  localparam logic [8:0] REG_SMH = 9'hF8;
  localparam logic [8:0] REG_SML = 9'h100;
  localparam logic [8:0] REG_SMLT = 9'h108;
  localparam logic [8:0] REG_SMC = 9'h110;
  localparam logic [8:0] REG_SA = 9'h118;
  localparam logic [8:0] REG_MYRINET = 9'h130;
  localparam logic [8:0] REG_DEBUG = 9'h138;
  localparam logic [8:0] REG_LED = 9'h140;
  localparam logic [8:0] REG_WRITE_ENABLE = 9'h150;
  localparam logic [8:0] REG_CLOCK = 9'h1F8;
  localparam logic [8:0] REG_DMA_LIST0 = 9'h80;
  localparam logic [8:0] REG_DMA_LIST1 = 9'h88;
  localparam logic [8:0] REG_DMA_LIST2 = 9'h90;
  localparam logic [8:0] REG_DMA_LIST3 = 9'h98;
  localparam logic [8:0] REG_DOORBELL_OVERFLOWS = 9'h158;
  localparam logic [8:0] REG_DMA_PROGRESS0 = 9'h160;
  localparam logic [8:0] REG_DMA_PROGRESS1 = 9'h168;
  localparam logic [8:0] REG_DMA_PROGRESS2 = 9'h170;
  localparam logic [8:0] REG_DMA_PROGRESS3 = 9'h178;
  localparam logic [8:0] REG_DOORBELL_PRODUCER0 = 9'h180;
  localparam logic [8:0] REG_DOORBELL_PRODUCER1 = 9'h188;
  localparam logic [8:0] REG_DOORBELL_PRODUCER2 = 9'h190;
  localparam logic [8:0] REG_DOORBELL_PRODUCER3 = 9'h198;
  localparam logic [8:0] REG_DOORBELL_CONSUMER0 = 9'h1A0;
  localparam logic [8:0] REG_DOORBELL_CONSUMER1 = 9'h1A8;
  localparam logic [8:0] REG_DOORBELL_CONSUMER2 = 9'h1B0;
  localparam logic [8:0] REG_DOORBELL_CONSUMER3 = 9'h1B8;
  localparam logic [8:0] REG_RECV_LENGTH = 9'h1C0;
  localparam logic [8:0] REG_RECV_LOST = 9'h1C8;
  localparam logic [8:0] REG_ERRORS = 9'h1D0;
  localparam logic [8:0] REG_DMA_STATUS = 9'h1D8;

  // Bit numbers of ISR and EIMR (fact sheet 3.3); writing 1 clears, except the signal bit of the writing side.
  localparam int ISR_HEAD = 0;
  localparam int ISR_RECV = 1;
  localparam int ISR_BUFF = 2;
  localparam int ISR_SEND = 3;
  localparam int ISR_WAKE1 = 4;
  localparam int ISR_WAKE2 = 5;
  localparam int ISR_TIME0 = 6;
  localparam int ISR_TIME1 = 7;
  localparam int ISR_ORUN1 = 8;
  localparam int ISR_ORUN2 = 9;
  localparam int ISR_ORUN4 = 10;
  localparam int ISR_NRES = 11;
  localparam int ISR_WAKE0 = 12;
  localparam int ISR_TIME2 = 13;
  localparam int ISR_MEM = 14;
  localparam int ISR_PAR = 15;
  localparam int ISR_LINK_DOWN = 16;
  localparam int ISR_DATA_SENT = 17;
  localparam int ISR_DATA_RECEIVED = 18;
  localparam int ISR_BEAT_RECEIVED = 19;
  localparam int ISR_ILLEGAL_RECEIVED = 20;
  localparam int ISR_RX_TOO_LONG = 21;
  localparam int ISR_TX_TOO_LONG = 22;
  localparam int ISR_TX_BLOCKED = 23;
  localparam int ISR_BEAT_MISSED = 24;
  localparam int ISR_DOORBELL_OVERFLOW = 25;
  localparam int ISR_DMA_ERROR = 26;
  localparam int ISR_NET_ERROR = 27;
  localparam int ISR_LANAI_SIG = 29;
  localparam int ISR_HOST_SIG = 30;
  localparam int ISR_DEBUG = 31;

  // Bit numbers of MYRINET; TIMEOUT is two bits: period = 1/16 s << (2 * code) (fact sheet 3.3, 3.4).
  localparam int MYRINET_NRES_EN = 0;
  localparam int MYRINET_CRC32_EN = 1;
  localparam int MYRINET_TX_CRC8_EN = 2;
  localparam int MYRINET_RX_CRC8_EN = 3;
  localparam int MYRINET_ILLEGAL_EN = 4;
  localparam int MYRINET_BEAT_EN = 5;
  localparam int MYRINET_TIMEOUT = 6;
  localparam int MYRINET_WINDOW = 8;

  // Bit numbers of the control register, PCI offset 0x800040 (fact sheet 3.7); on/off pairs are commands.
  localparam int CTL_FIFO_SIZE = 0;
  localparam int CTL_MULTI_QUEUE = 3;
  localparam int CTL_LIMIT_CHECK = 4;
  localparam int CTL_TRIGGER0 = 20;
  localparam int CTL_TRIGGER1 = 21;
  localparam int CTL_TRIGGER2 = 22;
  localparam int CTL_TRIGGER3 = 23;
  localparam int CTL_IRQ_DISABLE = 24;
  localparam int CTL_IRQ_ENABLE = 25;
  localparam int CTL_BOARD_RESET_ON = 26;
  localparam int CTL_BOARD_RESET_OFF = 27;
  localparam int CTL_EBUS_RESET_ON = 28;
  localparam int CTL_EBUS_RESET_OFF = 29;
  localparam int CTL_LANAI_RESET_ON = 30;
  localparam int CTL_LANAI_RESET_OFF = 31;

  // Byte offsets within the card's 16 MB PCI region (fact sheet 3.7).
  localparam logic [24:0] PCI_SRAM = 25'h0;
  localparam logic [24:0] PCI_CONFIG = 25'h800000;
  localparam logic [24:0] PCI_CONTROL = 25'h800040;
  localparam logic [24:0] PCI_POINTERS = 25'h800100;
  localparam logic [24:0] PCI_REGISTERS = 25'h804000;
  localparam logic [24:0] PCI_DOORBELL = 25'h808000;
  localparam logic [24:0] PCI_END = 25'h1000000;

  // Byte offsets of the fields of a DMA control block, 32-bit big-endian words, 8-byte aligned (fact sheet 3.6).
  localparam int BLOCK_NEXT = 0;
  localparam int BLOCK_CSUM = 4;
  localparam int BLOCK_LEN = 8;
  localparam int BLOCK_LAR = 12;
  localparam int BLOCK_EAH = 16;
  localparam int BLOCK_EAL = 20;
  localparam int BLOCK_SIZE = 24;

  // Flags in the low bits of a control block's `next` word (fact sheet 3.6).
  localparam logic [2:0] FLAG_E2L = 3'h1;
  localparam logic [2:0] FLAG_TERMINAL = 3'h2;
  localparam logic [2:0] FLAG_WAKE = 3'h4;

  // Bit numbers of ERRORS (ours): sticky, writing 1 clears.
  localparam int ERR_SEND_MISUSE = 0;
  localparam int ERR_RX_TRUNCATED = 1;
  localparam int ERR_RX_RESET = 2;
  localparam int ERR_PIO_MISUSE = 3;
  localparam int ERR_DMA0 = 4;
  localparam int ERR_DMA1 = 5;
  localparam int ERR_DMA2 = 6;
  localparam int ERR_DMA3 = 7;
  localparam int ERR_DOORBELL_OVERFLOW = 8;

  // Sizes and counts.
  localparam int SIZE_CHAINS = 4;
  localparam int SIZE_DOORBELL_FIFOS = 4;
  localparam int SIZE_DOORBELL_ENTRY = 8;
  localparam int SIZE_DOORBELL_FIFO = 4096;
  localparam int SIZE_POINTERS = 16;
  localparam int SIZE_REGISTERS = 512;
  localparam int SIZE_SRAM_WINDOW = 8388608;
  localparam int SIZE_VENDOR_ID = 5313;
  localparam int SIZE_DEVICE_ID = 32835;

  // MYRINET after reset.
  localparam logic [31:0] MYRINET_AFTER_RESET = 32'h2C;
endpackage
