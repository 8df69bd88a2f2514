/* Owner of a ring, queue or buffer. Without protection the whole NIC has one owner, and this adds no code. */
#ifndef EPOS_OWNERS_H
#define EPOS_OWNERS_H

enum { OWNERS_SHIFT = 1, OWNERS = 1 << OWNERS_SHIFT };

#if HAS_PROTECTION
/* A row is a process of this node (high bits) and a peer (6 bits). */
#define ROWS (NODES * OWNERS)
#define NODE(row) (((row) & 63) >> OWNERS_SHIFT)
#define OWNER(nic) (nic)->owner
#define LEAVING(nic) (nic)->leaving
#define OWNER_OF(nic, row) (&(nic)->owners[(row) >> 6])
#define PEER(row) ((row) & 63)
#define ROW(frame, source) (((frame)->words[EPOS_PROTECTION] & OWNERS - 1) << 6 | (source))
#define BUFFER_ROW(buffer) (buffer)->row
#define CONTROL_ROW(key, number) (((number) >> 16 & OWNERS - 1) << 6 | ((key) >> 16 & 63) << OWNERS_SHIFT | ((number) >> 8 & OWNERS - 1))
#define CONTROL_PAIR(row) (((row) & OWNERS - 1) << 16 | (row) >> 6 << 8)
#define ALLOWED(nic, row, address, size) \
    ((address) >= OWNER_OF(nic, row)->pinned && (address) + (size) <= OWNER_OF(nic, row)->room)
typedef struct owner owned;
#else
#define ROWS NODES
#define NODE(row) (row)
#define OWNER(nic) (nic)
#define LEAVING(nic) (nic)
#define OWNER_OF(nic, row) (nic)
#define PEER(row) (row)
#define ROW(frame, source) (source)
#define BUFFER_ROW(buffer) ((buffer)->info >> 24 & 63)
#define CONTROL_ROW(key, number) ((key) >> 16 & 63)
#define CONTROL_PAIR(row) 0
#define ALLOWED(nic, row, address, size) 1
typedef struct nic owned;
#endif

#endif
