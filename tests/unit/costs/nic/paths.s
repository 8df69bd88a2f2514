	.text
	.file	"paths.c"
	.globl	scan_channel                    ! -- Begin function scan_channel
	.p2align	2
	.type	scan_channel,@function
scan_channel:                           ! @scan_channel
! %bb.0:
	st	%fp, [--%sp]
	add	%sp, 0x8, %fp
	ld	8[%r6], %r3
	sub.f	%r3, %r7, %r0
	bne	.LBB0_1
	sub	%sp, 0x8, %sp
.LBB0_2:
	!APP
	!@again
	!NO_APP
	add	%r6, 0x10, %rv
.LBB0_3:
	ld	-4[%fp], %pc ! return
	add	%fp, 0x0, %sp
	ld	-8[%fp], %fp
.LBB0_1:
	or	%r0, 0x0, %rv
	!APP
	!@off a new message
	!NO_APP
	bt	.LBB0_3
	nop
.Lfunc_end0:
	.size	scan_channel, .Lfunc_end0-scan_channel
                                        ! -- End function
	.globl	start_send                      ! -- Begin function start_send
	.p2align	2
	.type	start_send,@function
start_send:                             ! @start_send
! %bb.0:
	st	%fp, [--%sp]
	add	%sp, 0x8, %fp
	sub	%sp, 0x8, %sp
	sh	%r18, 0x2, %r3
	mov	0x1, %r9
	and.f	%r18, %r9, %r9
	beq	.LBB1_2
	add	%r3, %r7, %r3
.LBB1_1:
	add	%r3, 0x4, %r3
.LBB1_3:
	!APP
	!@sample ISR
	ld	0[%r0], %r9

	!NO_APP
	mov	0x8, %r12
	and.f	%r9, %r12, %r9
	bne	.LBB1_4
	nop
.LBB1_5:
	!APP
	!@write SMP r7
	!NO_APP
	!APP
	!@write SMLT r3
	!NO_APP
	st	%r7, 0[%r6]
	st	%r18, 4[%r6]
.LBB1_6:
	ld	-4[%fp], %pc ! return
	add	%fp, 0x0, %sp
	ld	-8[%fp], %fp
.LBB1_2:
	!APP
	!@off no padding
	!NO_APP
	bt	.LBB1_3
	st	%r0, 12[%r6]
.LBB1_4:
	!APP
	!@off still sending
	!NO_APP
	bt	.LBB1_6
	nop
.Lfunc_end1:
	.size	start_send, .Lfunc_end1-start_send
                                        ! -- End function
	.ident	"Debian clang version 16.0.6 (15~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
