/* The point-cuts of the host: at each one the selected protocols are called, in their order; of the others nothing is left. */
#ifndef EPOS_HOOKS_H
#define EPOS_HOOKS_H

#define AT_MESSAGE(epos, node, size) do { } while (0)
#define AT_FRAME(epos, node, number, size) do { } while (0)
#define AT_SENT(epos, node, number) do { } while (0)
#define AT_ASSEMBLED(epos, source, came) do { } while (0)
#define AT_COPIED(epos, source, taken) do { } while (0)

#endif
