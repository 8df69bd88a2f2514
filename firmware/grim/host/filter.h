/* Paths of filter.py. */
/* One sample through 16 taps, without MMX: the line of samples ends at `newest`; sum (coefficients whose magnitudes add up to
 * less than 1 leave it in 32 bits), shift, saturate, store. */
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
