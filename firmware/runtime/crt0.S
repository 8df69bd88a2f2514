! Begin of a program for the LANai: after reset the processor is at address 0, which the linker gives to `start`. Behind the jump,
! up to 0x40, are words through which host and program may communicate; those of the jump too, once it is made.
	.text
	.globl	start
	.type	start,@function
start:
	bt	begin
	.long	0x00000000		! no operation: the word is zero until somebody writes there
	.space	56
begin:
	mov	hi(__stack), %sp
	or	%sp, lo(__stack), %sp
	or	%sp, 0x0, %fp
	mov	hi(__bss_start), %r6
	or	%r6, lo(__bss_start), %r6
	mov	hi(__bss_end), %r7
	or	%r7, lo(__bss_end), %r7
clear:					! what C expects to be zero
	sub.f	%r6, %r7, %r0
	beq	call
	nop
	st	%r0, [%r6]
	bt	clear
	add	%r6, 0x4, %r6
call:					! the return address is the caller's to push
	add	%pc, 0x10, %rca
	st	%rca, [--%sp]
	bt	main
	nop
stop:					! main has returned: here a debugger, or a simulator, finds the processor
	bt	stop
	nop
	.size	start, .-start
	.globl	stop
