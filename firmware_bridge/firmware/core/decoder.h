/* Bytes in, checked frames out: the framing of docs/protocol.md in the memory of a small controller. */
#ifndef QZ_DECODER_H
#define QZ_DECODER_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol.h"

#define QZ_FRAME_HEAD 4
#define QZ_FRAME_CRC 2
#define QZ_ENCODED_MAX (QZ_MAX_FRAME + 1)

/* Pieces between two 00 that were no frame, by cause; the counts wrap around. */
typedef struct {
    uint16_t stuffing;
    uint16_t length;
    uint16_t checksum;
    uint16_t overflow;
} qz_decode_errors_t;

typedef struct {
    uint8_t kind;
    uint8_t seq;
    uint16_t session;
    const uint8_t *payload; /* within the decoder: valid until its next byte */
    uint8_t length;
} qz_frame_t;

typedef struct {
    qz_decode_errors_t errors;
    bool flooded;
    uint8_t used;
    uint8_t buffer[QZ_ENCODED_MAX];
} qz_decoder_t;

void qz_decoder_init(qz_decoder_t *decoder);

/* True when this byte completes a frame, which is then in `frame`. */
bool qz_decoder_byte(qz_decoder_t *decoder, uint8_t byte, qz_frame_t *frame);

/* Drop what has been received of an unfinished frame. */
void qz_decoder_forget(qz_decoder_t *decoder);

/* The emergency stop, found byte by byte in whatever surrounds it. One variable: the bytes matched so far. */
typedef uint8_t qz_stop_watch_t;

/* True when this byte ends a stop. Short enough for a receive interrupt. */
bool qz_stop_byte(qz_stop_watch_t *watch, uint8_t byte);

/* CRC-16/GENIBUS, one byte further; begins with QZ_CRC_START, ends with qz_crc_end. */
#define QZ_CRC_START 0xFFFFu
uint16_t qz_crc_byte(uint16_t crc, uint8_t byte);
static inline uint16_t qz_crc_end(uint16_t crc) {
    return (uint16_t)~crc;
}
uint16_t qz_crc(const uint8_t *data, uint8_t length);

#endif
