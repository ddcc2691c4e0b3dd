/* The serial line, 115200 baud, 8N1: two rings filled and emptied by interrupts. */
#ifndef QZ_AVR_UART_H
#define QZ_AVR_UART_H

#include <stdint.h>

void uart_init(void);

/* Written by the owner of the pins, called by the receive interrupt when the stop string has passed: switches every
 * motor off. What was received before is dropped afterwards. */
void uart_stop(void);

/* The next byte received, or -1. */
int16_t uart_get(void);

/* Bytes that `uart_put` takes at this moment. */
uint8_t uart_room(void);

/* Queue a byte; only when there is room. */
void uart_put(uint8_t byte);

#endif
