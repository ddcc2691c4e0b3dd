/* What the tests call through ctypes: a rig in virtual time, and the decoder in bulk. */
#include <stdlib.h>
#include <string.h>

#include "rig.h"

qz_rig_t *qz_lib_new(uint64_t uid, uint32_t boot_id, uint32_t speed, uint8_t fresh) {
    qz_rig_t *const rig = malloc(sizeof *rig);
    if (rig != NULL) {
        qz_rig_start(rig, uid, boot_id, speed, fresh);
    }
    return rig;
}

void qz_lib_free(qz_rig_t *rig) {
    free(rig);
}

uint32_t qz_lib_executed(const qz_rig_t *rig) {
    return rig->executed + rig->board.executed;
}

/* The id of the command that took effect as number `n`, from 0. */
uint32_t qz_lib_executed_id(const qz_rig_t *rig, uint32_t n) {
    return rig->log[n % QZ_RIG_LOG];
}

bool qz_lib_locked(const qz_rig_t *rig) {
    return rig->board.locked;
}

uint8_t qz_lib_outputs(const qz_rig_t *rig) {
    return qz_board_outputs(&rig->board);
}

bool qz_lib_estop(const qz_rig_t *rig) {
    return rig->board.estop || rig->board.stopped;
}

bool qz_lib_lease(const qz_rig_t *rig) {
    return rig->board.lease_left != 0;
}

uint32_t qz_lib_pulses(const qz_rig_t *rig, uint8_t output) {
    return rig->plant.pulses[output % QZ_PLANT_OUTPUTS];
}

uint16_t qz_lib_tiles(const qz_rig_t *rig) {
    return qz_plant_tiles(&rig->plant);
}

void qz_lib_hold_memory(qz_rig_t *rig, bool held) {
    rig->memory_held = held;
}

bool qz_lib_fault(qz_rig_t *rig, const char *line) {
    return qz_plant_fault(&rig->plant, line);
}

/* Decodes `count` strings, each anew. Writes per string: for each frame its length (u8, at least 4), kind, seq,
 * session, payload; then 00, four error counts and the number of stops (u16 each, little-endian), and where the
 * last stop ended (u16, 65535: none). Returns the bytes written; stops early when less than 64 kB are left. */
uint32_t qz_lib_decode(const uint8_t *data, const uint16_t *lengths, uint32_t count, uint8_t *out, uint32_t room) {
    uint8_t *to = out;
    while (count-- > 0 && room - (uint32_t)(to - out) >= 65536u) {
        qz_decoder_t decoder;
        qz_stop_watch_t watch = 0;
        uint16_t stops = 0;
        uint16_t end = 65535;
        qz_frame_t frame;
        qz_decoder_init(&decoder);
        for (uint16_t n = 0; n < *lengths; n++) {
            if (qz_decoder_byte(&decoder, data[n], &frame)) {
                *to++ = (uint8_t)(QZ_FRAME_HEAD + frame.length);
                *to++ = frame.kind;
                *to++ = frame.seq;
                *to++ = (uint8_t)frame.session;
                *to++ = (uint8_t)(frame.session >> 8);
                memcpy(to, frame.payload, frame.length);
                to += frame.length;
            }
            if (qz_stop_byte(&watch, data[n])) {
                stops++;
                end = (uint16_t)(n + 1);
            }
        }
        const uint16_t tail[6] = {decoder.errors.stuffing, decoder.errors.length, decoder.errors.checksum,
                                  decoder.errors.overflow, stops, end};
        *to++ = 0;
        for (uint8_t n = 0; n < 6; n++) {
            *to++ = (uint8_t)tail[n];
            *to++ = (uint8_t)(tail[n] >> 8);
        }
        data += *lengths++;
    }
    return (uint32_t)(to - out);
}
