#include "uart.h"

#include <avr/interrupt.h>
#include <avr/io.h>
#include <util/atomic.h>

#include "../core/decoder.h"

#define BAUD 115200UL
#define UBRR_VALUE ((F_CPU + BAUD * 4) / (BAUD * 8) - 1) /* with U2X: 2.1 % fast, inside what a UART bears */

/* Powers of two. What is received may wait until the answers before are gone (see main.c); what is sent is taken
 * from the board's own ring as there is room. */
#define RX_SIZE 128u
#define TX_SIZE 32u

static volatile uint8_t rx_head, rx_tail, tx_head, tx_tail;
static volatile uint8_t rx_ring[RX_SIZE], tx_ring[TX_SIZE];

void uart_init(void) {
    UCSR0A = _BV(U2X0);
    UCSR0C = _BV(UCSZ01) | _BV(UCSZ00);
    UBRR0 = UBRR_VALUE; /* last: simavr reckons the duration of a byte from the other two at this moment */
    UCSR0B = _BV(RXEN0) | _BV(TXEN0) | _BV(RXCIE0);
}

/* The stop is found here, byte by byte, and not in the main loop: so it needs no frame, no buffer, no check sum
 * and no turn of the loop, and works in the middle of a broken frame and while the ring is full. */
ISR(USART_RX_vect) {
    static qz_stop_watch_t watch;
    uint8_t byte = UDR0;
    uint8_t next;

    if (qz_stop_byte(&watch, byte)) {
        uart_stop();
        rx_tail = rx_head; /* or an older CLEAR among it would end the stop */
        return;
    }
    next = (rx_head + 1u) & (RX_SIZE - 1u);
    if (next != rx_tail) { /* else it is lost; the check sum will tell */
        rx_ring[rx_head] = byte;
        rx_head = next;
    }
}

ISR(USART_UDRE_vect) {
    if (tx_tail == tx_head) {
        UCSR0B &= (uint8_t)~_BV(UDRIE0);
        return;
    }
    UDR0 = tx_ring[tx_tail];
    tx_tail = (tx_tail + 1u) & (TX_SIZE - 1u);
}

int16_t uart_get(void) {
    int16_t byte = -1;

    ATOMIC_BLOCK(ATOMIC_RESTORESTATE) /* the interrupt moves the tail at a stop */ {
        if (rx_tail != rx_head) {
            byte = rx_ring[rx_tail];
            rx_tail = (rx_tail + 1u) & (RX_SIZE - 1u);
        }
    }
    return byte;
}

uint8_t uart_room(void) {
    return (tx_tail - tx_head - 1u) & (TX_SIZE - 1u);
}

void uart_put(uint8_t byte) {
    tx_ring[tx_head] = byte;
    tx_head = (tx_head + 1u) & (TX_SIZE - 1u);
    ATOMIC_BLOCK(ATOMIC_RESTORESTATE) {
        UCSR0B |= _BV(UDRIE0);
    }
}
