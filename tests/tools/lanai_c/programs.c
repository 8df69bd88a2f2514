/* Programs that return a number, compiled for the LANai and for this machine; both must get the same. Each works from one
 * number. Nothing depends on the size of a pointer or on the order of bytes. */
typedef unsigned int u32;
typedef unsigned short u16;
typedef unsigned char u8;
typedef unsigned long long u64;
typedef signed char s8;
typedef short s16;
typedef int s32;
typedef long long s64;

static u32 mixed(u32 sum, u32 value) { return (sum << 5 | sum >> 27) ^ value; }

/* Signed and unsigned, with what the library has to do. Division by zero is left out: C does not define it. */
u32 arithmetic(u32 seed) {
    u32 sum = seed, a = seed | 1;
    for (u32 i = 1; i < 14; i++) {
        s32 signed_a = (s32)a, by = (s32)(i * 12345u) - 200000;
        sum = mixed(sum, a * i + a / i + a % i);
        if (signed_a != (s32)0x80000000 || by != -1) sum = mixed(sum, (u32)(signed_a / by) - (u32)(signed_a % by));
        sum = mixed(sum, (a >> (i & 31)) + (u32)(signed_a >> (seed & 31)) + (a << (a & 31)));
        a = a * 1103515245u + 12345u;
    }
    return sum;
}

/* Words of 64 bits: carries, shifts by constants and by variables, comparisons. */
u32 wide(u32 seed) {
    u64 a = 0x0123456789ABCDEFull * seed, b = ~0ull / 3;
    s64 c = -5000000000ll + (s32)seed;
    for (u32 i = 0; i < 40; i++) {
        a += b << (i & 63);
        b ^= a >> (i * 7 & 63);
        c -= (s64)((a & 0xFFFFFF) * i);
        c >>= i & 3;
        if (c < (s64)b) a -= 77;
        if (a > b) b++;
        a = a << 32 | a >> 32;
    }
    return (u32)(a ^ a >> 32 ^ b ^ b >> 32 ^ (u64)c ^ (u64)c >> 32);
}

/* Every comparison of numbers at the edges, as branches, as values and as selects. */
u32 comparisons(u32 seed) {
    s32 edges[6] = {0, -1, 1, (s32)0x80000000, 0x7FFFFFFF, (s32)seed};
    u32 sum = 0;
    for (u32 i = 0; i < 6; i++) {
        for (u32 j = 0; j < 6; j++) {
            s32 a = edges[i], b = edges[j];
            u32 x = (u32)a, y = (u32)b, all = (u32)(a < b);
            all |= (u32)(a <= b) << 1 | (u32)(a == b) << 2 | (u32)(x < y) << 3 | (u32)(x <= y) << 4;
            all |= (u32)(a > b) << 5 | (u32)(x > y) << 6 | (u32)(a != b) << 7;
            sum = mixed(sum, all ^ (u32)(a < b ? a : b));
            if (x > y) sum += 5;
            if (a >= b) sum += x;
        }
    }
    return sum;
}

/* Structures with parts of words: by pointer, by value, with bit fields, in a list. */
struct node { struct node *next; u32 number; s16 half; u8 byte; s8 small; u32 low : 5, high : 11; s32 sign : 6; };
struct large { u32 words[9]; u8 tail; };
static struct node nodes[20];

static struct large turned(struct large one, u32 by) {
    for (u32 i = 0; i < 9; i++) one.words[i] = one.words[(i + 1) % 9] + by;
    one.tail ^= (u8)by;
    return one;
}

u32 structures(u32 seed) {
    struct node *head = 0;
    struct large large = {{1, 2, 3, 4, 5, 6, 7, 8, seed}, 9};
    u32 sum = seed;
    for (u32 i = 0; i < 20; i++) {
        struct node *one = &nodes[(i * 7 + seed % 20) % 20];
        one->next = head;
        one->number = i * seed;
        one->half = (s16)(i * 4000 - 30000);
        one->byte = (u8)(i * 37);
        one->small = (s8)(100 - (s32)i * 17);
        one->low = i;
        one->high = i * seed;
        one->sign = (s32)(i & 63) - 32;
        head = one;
    }
    for (; head; head = head->next) {
        sum = mixed(sum, head->number + (u32)head->half) ^ head->byte;
        sum += (u32)head->small + head->low * 3 + head->high * 5 + (u32)head->sign;
    }
    for (u32 i = 0; i < 5; i++) large = turned(large, sum + i);
    for (u32 i = 0; i < 9; i++) sum = mixed(sum, large.words[i]);
    return sum + large.tail;
}

/* Calls: of itself, through a table, with many and with a variable number of arguments. */
static u32 fibonacci(u32 number) { return number < 2 ? number : fibonacci(number - 1) + fibonacci(number - 2); }
static u32 ackermann(u32 m, u32 n) { return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)); }
static s32 more(s32 a) { return a + 1; }
static s32 thrice(s32 a) { return (s32)((u32)a * 3); }
static s32 less(s32 a) { return (s32)(0u - (u32)a); }
static s32 other(s32 a) { return a ^ 0x5555; }
static s32 (*const steps[4])(s32) = {more, thrice, less, other};
static u32 seven(u32 a, u32 b, u32 c, u32 d, u32 e, u64 f, u32 g) { return mixed(a, b) + mixed(c, d) * e + (u32)(f >> g); }

static u32 total(u32 count, ...) {
    __builtin_va_list rest;
    u32 sum = 0;
    __builtin_va_start(rest, count);
    while (count--) sum = sum * 3 + __builtin_va_arg(rest, u32);
    __builtin_va_end(rest);
    return sum;
}

u32 calls(u32 seed) {
    s32 a = (s32)seed;
    u32 sum = fibonacci(seed % 12) + ackermann(2, seed % 5);
    for (u32 i = 0; i < 50; i++) {
        a = steps[a & 3](a);
        sum = mixed(sum, (u32)a);
    }
    sum += seven(seed, 1, sum, 3, 4, (u64)sum << 20 | 5, 6);
    return sum ^ total(6, seed, 2u, sum, 4u, 5u, 6u);
}

/* Loops and branches: a switch, nested loops with breaks, counted bits. */
u32 loops(u32 seed) {
    u32 sum = seed;
    for (u32 i = 0; i < 30; i++) {
        switch (sum % 11) {
            case 0: sum += 3; break;
            case 1: sum ^= 0x1234; break;
            case 2: sum = sum << 3 | 1; /* and the next one */
            case 3: sum -= i; break;
            case 5: sum = ~sum; break;
            case 8: sum += (u32)__builtin_popcount(sum); break;
            case 9: sum ^= sum ? (u32)__builtin_clz(sum) : 9; break;
            case 10: sum ^= sum ? (u32)__builtin_ctz(sum) : 1; break;
            default: sum += 99;
        }
        for (u32 k = 0; k < i; k++) {
            if ((sum ^ k) % 13 == 0) break;
            if (k & 1) continue;
            sum = mixed(sum, k);
        }
    }
    return sum;
}

/* Pointers: tables in bytes, halves and words, copies at every offset, strings. */
static u8 from[80], to[80];
static u8 table[256];
static const char text[] = "LANai";

u32 pointers(u32 seed) {
    u32 sum = seed;
    u16 halves[8];
    for (u32 i = 0; i < 256; i++) {
        u32 crc = i;
        for (u32 bit = 0; bit < 8; bit++) crc = crc & 0x80 ? crc << 1 ^ 7 : crc << 1;
        table[i] = (u8)crc;
    }
    for (u32 i = 0; i < 80; i++) from[i] = (u8)(i * i + seed);
    for (u32 at = 0; at < 8; at++) {
        __builtin_memset(to, (s32)at, 80);
        __builtin_memcpy(to + at, from + (seed & 7), 61 - at);
        for (u32 i = 0; i < 80; i++) sum = (sum << 8) ^ table[(u8)(sum >> 24) ^ to[i]];
    }
    for (u32 i = 0; i < 8; i++) halves[i] = (u16)(sum * (i + 1));
    for (u16 *half = halves + 8; half != halves;) sum = mixed(sum, (u32)(s16)*--half);
    for (const char *letter = text; *letter; letter++) sum = sum * 31 + (u8)*letter;
    return sum;
}
