/* Little-endian numbers at any address. */
#ifndef QZ_BYTES_H
#define QZ_BYTES_H

#include <stdint.h>

static inline uint16_t qz_get_u16(const uint8_t *at) {
    return (uint16_t)(at[0] | (uint16_t)at[1] << 8);
}

static inline uint32_t qz_get_u32(const uint8_t *at) {
    return (uint32_t)qz_get_u16(at) | (uint32_t)qz_get_u16(at + 2) << 16;
}

static inline void qz_put_u16(uint8_t *at, uint16_t value) {
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
}

static inline void qz_put_u32(uint8_t *at, uint32_t value) {
    qz_put_u16(at, (uint16_t)value);
    qz_put_u16(at + 2, (uint16_t)(value >> 16));
}

#endif
