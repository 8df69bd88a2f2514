// Register map of the NIC. GENERATED from pymodels/nics/lanai4/registers.py by `python -m pymodels.nics.lanai4.registers --sv`;
// edit that file, never this one.
package myri_lanai4_pkg;
  /* verilator lint_off UNUSEDPARAM */  // a map is whole; no block uses all of it

  // Special registers of LANai 4: byte offsets, one 32-bit register every 4 bytes (fact sheet 3.2).
  localparam logic [8:0] REG_ISR = 9'h28;
  localparam logic [8:0] REG_EIMR = 9'h2C;
  localparam logic [8:0] REG_IT = 9'h30;
  localparam logic [8:0] REG_RTC = 9'h34;
  localparam logic [8:0] REG_CKS = 9'h38;
  localparam logic [8:0] REG_EAR = 9'h3C;
  localparam logic [8:0] REG_LAR = 9'h40;
  localparam logic [8:0] REG_DMA_CTR = 9'h44;
  localparam logic [8:0] REG_RMP = 9'h48;
  localparam logic [8:0] REG_RML = 9'h4C;
  localparam logic [8:0] REG_SMP = 9'h50;
  localparam logic [8:0] REG_SML = 9'h54;
  localparam logic [8:0] REG_SMLT = 9'h58;
  localparam logic [8:0] REG_RB = 9'h60;
  localparam logic [8:0] REG_RH = 9'h64;
  localparam logic [8:0] REG_RW = 9'h68;
  localparam logic [8:0] REG_SA = 9'h6C;
  localparam logic [8:0] REG_SB = 9'h70;
  localparam logic [8:0] REG_SH = 9'h74;
  localparam logic [8:0] REG_SW = 9'h78;
  localparam logic [8:0] REG_ST = 9'h7C;
  localparam logic [8:0] REG_DMA_DIR = 9'h80;
  localparam logic [8:0] REG_DMA_STS = 9'h84;
  localparam logic [8:0] REG_TIMEOUT = 9'h88;
  localparam logic [8:0] REG_MYRINET = 9'h8C;
  localparam logic [8:0] REG_DEBUG = 9'h90;
  localparam logic [8:0] REG_LED = 9'h94;
  localparam logic [8:0] REG_VERSION = 9'h98;
  localparam logic [8:0] REG_WRITE_ENABLE = 9'h9C;
  localparam logic [8:0] REG_RECV_LENGTH = 9'hA0;
  localparam logic [8:0] REG_RECV_LOST = 9'hA4;
  localparam logic [8:0] REG_ERRORS = 9'hA8;
  localparam logic [8:0] REG_DMA_STATUS = 9'hAC;

  // Bit numbers of ISR and EIMR (fact sheet 3.2); writing 1 clears, except the signal bits of the writing side.
  localparam int ISR_BYTE_RDY = 0;
  localparam int ISR_RECV = 1;
  localparam int ISR_BUFF = 2;
  localparam int ISR_SEND = 3;
  localparam int ISR_DMA = 4;
  localparam int ISR_TIME = 5;
  localparam int ISR_WDOG = 6;
  localparam int ISR_TAIL = 7;
  localparam int ISR_OFF_BY_1 = 8;
  localparam int ISR_OFF_BY_2 = 9;
  localparam int ISR_WAKE = 10;
  localparam int ISR_NRES = 11;
  localparam int ISR_LINK = 12;
  localparam int ISR_SEND_RDY = 13;
  localparam int ISR_HALF_RDY = 14;
  localparam int ISR_WORD_RDY = 15;
  localparam int ISR_LAN0_SIG = 16;
  localparam int ISR_LAN7_SIG = 23;
  localparam int ISR_DMA_ERROR = 26;
  localparam int ISR_NET_ERROR = 27;
  localparam int ISR_HOST_SIG = 30;
  localparam int ISR_DBG = 31;

  // Bit numbers of MYRINET (fact sheet 3.2).
  localparam int MYRINET_NRES_EN = 0;
  localparam int MYRINET_CRC_EN = 1;

  // Byte offsets within the card's PCI region (fact sheet 3.7); 1 MB of SRAM is mapped behind the rest.
  localparam logic [24:0] PCI_SRAM = 25'h0;
  localparam logic [24:0] PCI_EEPROM = 25'h80000;
  localparam logic [24:0] PCI_REGISTERS = 25'hC0000;
  localparam logic [24:0] PCI_CONTROL = 25'hE0000;
  localparam logic [24:0] PCI_CONFIG = 25'hE0040;
  localparam logic [24:0] PCI_SRAM_1MB = 25'h100000;
  localparam logic [24:0] PCI_END = 25'h200000;

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

  // Bit numbers of ERRORS (ours): sticky, writing 1 clears.
  localparam int ERR_SEND_MISUSE = 0;
  localparam int ERR_RX_TRUNCATED = 1;
  localparam int ERR_RX_RESET = 2;
  localparam int ERR_PIO_MISUSE = 3;
  localparam int ERR_DMA = 4;
  localparam int ERR_DMA_MISUSE = 5;

  // Sizes and counts.
  localparam int SIZE_REGISTERS = 256;
  localparam int SIZE_SRAM = 1048576;
  localparam int SIZE_VERSION = 67;

  // MYRINET after reset.
  localparam logic [31:0] MYRINET_AFTER_RESET = 32'h2;
endpackage
