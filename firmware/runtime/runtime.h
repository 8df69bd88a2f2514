/* Run-time library of C programs for the LANai: functions that clang calls implicitly. Only used ones are linked. */
#ifndef SANLAB_RUNTIME_H
#define SANLAB_RUNTIME_H

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long s64;
typedef __SIZE_TYPE__ size;

u32 __mulsi3(u32 a, u32 b);
u32 __udivsi3(u32 a, u32 b);
u32 __umodsi3(u32 a, u32 b);
int __divsi3(int a, int b);
int __modsi3(int a, int b);
u64 __muldi3(u64 a, u64 b);
u64 __ashldi3(u64 a, int by);
u64 __lshrdi3(u64 a, int by);
s64 __ashrdi3(s64 a, int by);
void *memcpy(void *to, const void *from, size bytes);
void *memset(void *to, int value, size bytes);

#endif
