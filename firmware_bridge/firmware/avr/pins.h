/* Which pin of the ATmega328P is which output and input.
 *
 * Outputs are active high and have external pull-downs, so that a board in reset, without program or without
 * power moves nothing. The pins of the programming plug (PB3..PB5) are inputs: nothing twitches while a board
 * is programmed in the machine. RX and TX are PD0 and PD1; PB6 and PB7 carry the crystal.
 *
 *   bit  output  pin  |  bit  input        pin
 *   0    BUILD   PD2  |  0    LID_OPEN     PC0
 *   1    LIFT    PD3  |  1    LID_CLOSED   PC1
 *   2    LID     PD4  |  2    LIFT_TOP     PC2
 *   3    DIR     PD5  |  3    LIFT_BOTTOM  PC3
 *   4    FEED    PD6  |  4    COUNT0       PC4
 *   5    TOOL    PD7  |  5    COUNT1       PC5
 *   6    SEL0    PB0  |  6    COUNT2       PB2
 *   7    SEL1    PB1  |  7    COUNT3       PB3
 *                     |  8    DRUM         PB4
 *                     |  9    SERVICE      PB5
 */
#ifndef QZ_AVR_PINS_H
#define QZ_AVR_PINS_H

#include <avr/io.h>
#include <stdint.h>

#define PINS_RX_PULL_UP 0x01u /* an unplugged line reads as idle, not as noise */

/* Everything off, and only then driven. */
static inline void pins_init(void) {
    PORTD = PINS_RX_PULL_UP;
    PORTB = 0;
    PORTC = 0;
    DDRD = 0xFE;
    DDRB = 0x03;
    DDRC = 0;
}

/* Drive all outputs; call with interrupts off. */
static inline void pins_write(uint8_t outputs) {
    PORTD = (uint8_t)(outputs << 2) | PINS_RX_PULL_UP;
    PORTB = (uint8_t)(outputs >> 6);
}

/* All inputs as they are at this moment, not debounced. */
static inline uint16_t pins_read(void) {
    return (uint16_t)(PINC & 0x3Fu) | (uint16_t)((uint16_t)(PINB & 0x3Cu) << 4);
}

#endif
