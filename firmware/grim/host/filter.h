/* Paths of filter.py. */
/* Filter one sample through 16 taps, without MMX. The line of samples ends at `newest`. The sum stays within 32 bits
 * if the magnitudes of the coefficients add up to less than 1; then shift, saturate, store. */
void filter_sample(const short *newest, const short *coefficients, short *result) {
    int sum = 0;
#pragma clang loop unroll(full)
    for (int tap = 0; tap < 16; tap++) {
        sum += newest[-tap] * coefficients[tap];
    }
    sum >>= 15;
    if (UNLIKELY(sum > 32767)) {
        OFF_PATH("too large");
        sum = 32767;
    }
    if (UNLIKELY(sum < -32768)) {
        OFF_PATH("too small");
        sum = -32768;
    }
    *result = sum;
    LOOP_AGAIN();
}
