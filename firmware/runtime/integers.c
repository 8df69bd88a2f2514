/* Arithmetic that the LANai has no instruction for, under the names that clang calls. */
#include "runtime.h"

u32 __mulsi3(u32 a, u32 b) {
    u32 product = 0;
    for (; a; a >>= 1, b <<= 1)
        if (a & 1) product += b;
    return product;
}

struct division { u32 quotient, rest; };

/* Divides bit by bit, from the highest. Division by zero gives all ones and the dividend. */
static struct division divide(u32 a, u32 b) {
    struct division done = {0, 0};
    for (int bit = 31; bit >= 0; bit--) {
        u32 lost = done.rest >> 31;
        done.rest = done.rest << 1 | (a >> bit & 1);
        if (lost || done.rest >= b) {
            done.rest -= b;
            done.quotient |= 1u << bit;
        }
    }
    return done;
}

static u32 magnitude(int a) { return a < 0 ? -(u32)a : (u32)a; }

u32 __udivsi3(u32 a, u32 b) { return divide(a, b).quotient; }

u32 __umodsi3(u32 a, u32 b) { return divide(a, b).rest; }

int __divsi3(int a, int b) {
    u32 quotient = divide(magnitude(a), magnitude(b)).quotient;
    return (int)((a ^ b) < 0 ? -quotient : quotient);
}

int __modsi3(int a, int b) {
    u32 rest = divide(magnitude(a), magnitude(b)).rest;
    return (int)(a < 0 ? -rest : rest);
}

u64 __muldi3(u64 a, u64 b) {
    u64 product = 0;
    for (; a; a >>= 1, b <<= 1)
        if (a & 1) product += b;
    return product;
}
