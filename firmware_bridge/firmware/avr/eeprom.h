/* What outlives a reset: rings of records in the EEPROM, written in the background.
 *
 * A record is `sequence u16 | payload | CRC-16 over both`. Each one goes to the slot after the last, so that wear
 * is spread over all slots, and the check sum is written last, so that a record cut short by a reset is none and
 * the one before it counts. Bytes that are right already are not written again.
 *
 *   0x000  uid: 8 bytes, least significant first, and their complements; written once, by the programmer
 *   0x010  configuration: 4 slots of 48
 *   0x0D0  memory: 20 slots of 40
 *
 * Each byte bears 100 000 writes (ATmega328P, datasheet DS40002061A, 8.4): with 40 records a hand, the memory
 * lasts 50 000 hands.
 */
#ifndef QZ_AVR_EEPROM_H
#define QZ_AVR_EEPROM_H

#include <stdbool.h>
#include <stdint.h>

#define EEPROM_UID 0x000u
#define EEPROM_CONFIG 0x010u
#define EEPROM_CONFIG_SLOTS 4u
#define EEPROM_CONFIG_SLOT 48u
#define EEPROM_MEMORY 0x0D0u
#define EEPROM_MEMORY_SLOTS 20u
#define EEPROM_MEMORY_SLOT 40u
#define EEPROM_OVERHEAD 4u /* sequence and check sum */

typedef struct {
    uint16_t base;
    uint8_t slots;
    uint8_t slot; /* bytes from one to the next */
    uint8_t size; /* of a payload */
    uint8_t at;   /* slot of the newest record */
    uint16_t seq; /* and its number */
} eeprom_ring_t;

/* The number of this board, or 0 where none was provisioned. */
uint64_t eeprom_uid(void);

/* Read the newest record of a ring; false: there is none, and `payload` is untouched. */
bool eeprom_load(eeprom_ring_t *ring, void *payload);

/* Begin to write a record, and keep `payload` where it is until it is written. One ring at a time. */
void eeprom_begin(eeprom_ring_t *ring, const void *payload);

/* Go on writing; call once per millisecond. The ring whose record is complete now, or NULL. A payload that changes
 * meanwhile is written anew from the start, so what is complete is what the payload is at that moment. */
const eeprom_ring_t *eeprom_step(void);

/* Whether a record is being written. */
bool eeprom_busy(void);

#endif
