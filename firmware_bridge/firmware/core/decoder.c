#include "decoder.h"

#include "protocol.h"

/* A table of 16 words costs less time than bits one by one and far less flash than 256 words. */
static const uint16_t crc_of_nibble[16] QZ_FLASH = {
    0x0000, 0x1021, 0x2042, 0x3063, 0x4084, 0x50A5, 0x60C6, 0x70E7,
    0x8108, 0x9129, 0xA14A, 0xB16B, 0xC18C, 0xD1AD, 0xE1CE, 0xF1EF,
};

uint16_t qz_crc_byte(uint16_t crc, uint8_t byte) {
    crc = (uint16_t)(crc << 4) ^ qz_flash_u16(&crc_of_nibble[(uint8_t)(crc >> 12) ^ (byte >> 4)]);
    return (uint16_t)(crc << 4) ^ qz_flash_u16(&crc_of_nibble[(uint8_t)(crc >> 12) ^ (byte & 0x0F)]);
}

uint16_t qz_crc(const uint8_t *data, uint8_t length) {
    uint16_t crc = QZ_CRC_START;
    while (length--) {
        crc = qz_crc_byte(crc, *data++);
    }
    return qz_crc_end(crc);
}

void qz_decoder_init(qz_decoder_t *decoder) {
    decoder->errors = (qz_decode_errors_t){0, 0, 0, 0};
    qz_decoder_forget(decoder);
}

void qz_decoder_forget(qz_decoder_t *decoder) {
    decoder->used = 0;
    decoder->flooded = false;
}

/* COBS undone in place: what is written never overtakes what is read. False: no COBS. */
static bool unstuff(qz_decoder_t *decoder) {
    uint8_t *const data = decoder->buffer;
    uint8_t from = 0;
    uint8_t to = 0;
    while (from < decoder->used) {
        uint8_t code = data[from];
        if (code > (uint8_t)(decoder->used - from)) {
            return false;
        }
        from++;
        while (--code) {
            data[to++] = data[from++];
        }
        if (from < decoder->used) {
            data[to++] = 0;
        }
    }
    decoder->used = to;
    return true;
}

static bool take(qz_decoder_t *decoder, qz_frame_t *frame) {
    const uint8_t *const data = decoder->buffer;
    if (decoder->flooded) {
        decoder->errors.overflow++;
        return false;
    }
    if (decoder->used == 0) {
        return false;
    }
    if (!unstuff(decoder)) {
        decoder->errors.stuffing++;
        return false;
    }
    if (decoder->used < QZ_FRAME_HEAD + QZ_FRAME_CRC || decoder->used > QZ_MAX_FRAME) {
        decoder->errors.length++;
        return false;
    }
    const uint8_t end = (uint8_t)(decoder->used - QZ_FRAME_CRC);
    if (qz_crc(data, end) != ((uint16_t)(data[end] << 8) | data[end + 1])) {
        decoder->errors.checksum++;
        return false;
    }
    frame->kind = data[0];
    frame->seq = data[1];
    frame->session = (uint16_t)(data[2] | (uint16_t)(data[3] << 8));
    frame->payload = data + QZ_FRAME_HEAD;
    frame->length = (uint8_t)(end - QZ_FRAME_HEAD);
    return true;
}

bool qz_decoder_byte(qz_decoder_t *decoder, uint8_t byte, qz_frame_t *frame) {
    if (byte == 0) {
        const bool found = take(decoder, frame);
        qz_decoder_forget(decoder);
        return found;
    }
    if (decoder->flooded || decoder->used == QZ_ENCODED_MAX) {
        decoder->flooded = true;
        decoder->used = 0;
    } else {
        decoder->buffer[decoder->used++] = byte;
    }
    return false;
}

bool qz_stop_byte(qz_stop_watch_t *watch, uint8_t byte) {
    static const uint8_t stop[] = QZ_STOP;
    if (byte != stop[*watch]) {
        *watch = byte == 0 ? 1 : 0; /* only a 00 can begin anew: there is none inside */
        return false;
    }
    if (++*watch < sizeof stop) {
        return false;
    }
    *watch = 1; /* the last 00 may begin the next one */
    return true;
}
