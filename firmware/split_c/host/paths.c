/* Cost of each step of Split-C on the host's CPU, in addition to AM's. One function is one path; the rules are in
 * pymodels/costs/README.md. */
#include "turns.h"

enum { NODES = 64, ROUNDS = 8 };

struct split_c { u32 me, nodes, stored, episode, arrived[ROUNDS], bases[NODES]; };

/* Translate a global pointer to the physical address at its node. */
u32 split_c_issue(struct split_c *c, u32 node, u32 at) {
    if (UNLIKELY(node == c->me)) {
        OFF_PATH("it is here");
        return 0;
    }
    return c->bases[node] + at;
}

/* Copy an element within this node's heap. */
void split_c_local(struct split_c *c, u32 to, u32 from) {
    u32 base = c->bases[c->me];
    ((u32 *)(base + to))[0] = ((u32 *)(base + from))[0];
    ((u32 *)(base + to))[1] = ((u32 *)(base + from))[1];
}

/* Handler of a get: load the element for the reply. */
void split_c_serve(struct split_c *c, const u32 *arguments, u32 *reply) {
    const u32 *at = (const u32 *)(c->bases[c->me] + arguments[0]);
    reply[0] = arguments[1];
    reply[1] = arguments[2];
    reply[2] = at[0];
    reply[3] = at[1];
}

/* Handlers of a get's reply, of a put and of a store: store the element. */
void split_c_take(struct split_c *c, const u32 *arguments) {
    u32 *at = (u32 *)(c->bases[c->me] + arguments[0]);
    at[0] = arguments[2];
    if (LIKELY(arguments[1] > 4)) at[1] = arguments[3];
    c->stored = c->stored + arguments[1];
}

/* Copy 32 bytes of a bulk store. */
u32 *split_c_copy(u32 *to, const u32 *from, const u32 *end) { return copy_turn(to, from, end); }

/* Choose the node to notify in a round of a barrier. */
u32 split_c_round(const struct split_c *c, u32 distance) {
    u32 node = c->me + distance;
    if (UNLIKELY(node >= c->nodes)) {
        OFF_PATH("round the nodes");
        node = node - c->nodes;
    }
    return node;
}

/* Handler of a barrier message: count an arrival in its round. */
void split_c_arrive(struct split_c *c, u32 round) { SHARED32(&c->arrived[round]) = SHARED32(&c->arrived[round]) + 1; }
