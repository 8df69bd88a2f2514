/* A small object with everything that clang leaves: code, a constant, data, what is zero, a call, and lines.
 * Made with: clang-16 --target=lanai -O1 -ffreestanding -gline-tables-only -gdwarf-4 -fdebug-compilation-dir=. -c count.c */
unsigned counts[4];
unsigned step = 3;
static const unsigned char primes[4] = {2, 3, 5, 7};

__attribute__((noinline)) static unsigned prime(unsigned number) {
    return primes[number & 3];
}

unsigned count(unsigned number) {
    counts[number & 3] += step;
    return counts[number & 3] * 4 + prime(number);
}

int main(void) {
    return (int)(count(1) + count(1) + count(2));
}
