#include "eeprom.h"

#include <avr/eeprom.h>
#include <avr/io.h>
#include <stddef.h>
#include <util/atomic.h>
#include <util/crc16.h>

#define WRITE_MS 4u /* programming takes 3.4 ms (datasheet DS40002061A, table 8-2) */

static struct {
    eeprom_ring_t *ring;
    const uint8_t *payload;
    uint16_t slot; /* address of the record */
    uint16_t seq;
    uint16_t crc;
    uint8_t done; /* bytes of the record that are right */
    uint8_t wait; /* ms */
} writer;

static uint8_t read_byte(uint16_t address) {
    return eeprom_read_byte((const uint8_t *)address);
}

static uint16_t slot_address(const eeprom_ring_t *ring, uint8_t slot) {
    return ring->base + (uint16_t)slot * ring->slot;
}

/* Sum of `length` bytes and the two of its check sum: 0 when they fit. */
static uint16_t residue(uint16_t address, uint8_t length) {
    uint16_t crc = 0xFFFF;
    uint8_t i;

    for (i = 0; i < (uint8_t)(length + 2u); i++) {
        crc = _crc_xmodem_update(crc, read_byte(address + i));
    }
    return crc;
}

uint64_t eeprom_uid(void) {
    union {
        uint8_t bytes[8];
        uint64_t number;
    } uid;
    uint8_t i;

    for (i = 0; i < 8u; i++) {
        uid.bytes[i] = read_byte(EEPROM_UID + i);
        if ((uid.bytes[i] ^ read_byte(EEPROM_UID + 8u + i)) != 0xFFu) {
            return 0;
        }
    }
    return uid.number;
}

bool eeprom_load(eeprom_ring_t *ring, void *payload) {
    bool found = false;
    uint8_t slot;

    ring->at = ring->slots - 1u;
    ring->seq = 0;
    for (slot = 0; slot < ring->slots; slot++) {
        uint16_t address = slot_address(ring, slot);
        uint16_t seq = eeprom_read_word((const uint16_t *)address);

        if (residue(address, ring->size + 2u) != 0 || (found && (int16_t)(seq - ring->seq) <= 0)) {
            continue;
        }
        found = true;
        ring->at = slot;
        ring->seq = seq;
    }
    if (found) {
        eeprom_read_block(payload, (const void *)(slot_address(ring, ring->at) + 2u), ring->size);
    }
    return found;
}

static uint16_t record_crc(void) {
    uint16_t crc = _crc_xmodem_update(0xFFFF, (uint8_t)writer.seq);
    uint8_t i;

    crc = _crc_xmodem_update(crc, (uint8_t)(writer.seq >> 8));
    for (i = 0; i < writer.ring->size; i++) {
        crc = _crc_xmodem_update(crc, writer.payload[i]);
    }
    return crc;
}

void eeprom_begin(eeprom_ring_t *ring, const void *payload) {
    writer.ring = ring;
    writer.payload = payload;
    writer.slot = slot_address(ring, ring->at + 1u < ring->slots ? ring->at + 1u : 0);
    writer.seq = ring->seq + 1u;
    writer.done = 0;
    writer.crc = record_crc();
}

static uint8_t record_byte(uint8_t at) {
    uint8_t size = writer.ring->size;

    if (at < 2u) {
        return (uint8_t)(writer.seq >> (8u * at));
    }
    if (at < size + 2u) {
        return writer.payload[at - 2u];
    }
    return (uint8_t)(at == size + 2u ? writer.crc >> 8 : writer.crc);
}

const eeprom_ring_t *eeprom_step(void) {
    eeprom_ring_t *ring = writer.ring;

    if (writer.wait != 0 && --writer.wait != 0) {
        return NULL;
    }
    if (ring == NULL || !eeprom_is_ready()) {
        return NULL;
    }
    if (record_crc() != writer.crc) {
        eeprom_begin(ring, writer.payload);
    }
    while (writer.done < ring->size + EEPROM_OVERHEAD) {
        uint16_t address = writer.slot + writer.done;
        uint8_t byte = record_byte(writer.done++);

        if (read_byte(address) != byte) {
            EEAR = address;
            EEDR = byte;
            ATOMIC_BLOCK(ATOMIC_RESTORESTATE) {
                EECR = _BV(EEMPE);
                EECR = _BV(EEMPE) | _BV(EEPE);
            }
            writer.wait = WRITE_MS;
            return NULL;
        }
    }
    ring->at = (uint8_t)((writer.slot - ring->base) / ring->slot);
    ring->seq = writer.seq;
    writer.ring = NULL;
    return ring;
}

bool eeprom_busy(void) {
    return writer.ring != NULL;
}
