/* Tables in flash: on an AVR constants would otherwise take RAM. Read them with these only. */
#ifndef QZ_FLASH_H
#define QZ_FLASH_H

#include <stdint.h>
#include <string.h>

#ifdef __AVR__

#include <avr/pgmspace.h>

#define QZ_FLASH PROGMEM
#define qz_flash_u8(address) pgm_read_byte(address)
#define qz_flash_u16(address) pgm_read_word(address)
#define qz_flash_u32(address) pgm_read_dword(address)
#define qz_flash_copy(to, from, size) memcpy_P((to), (from), (size))

#else

#define QZ_FLASH
#define qz_flash_u8(address) (*(const uint8_t *)(address))
#define qz_flash_u16(address) (*(const uint16_t *)(address))
#define qz_flash_u32(address) (*(const uint32_t *)(address))
#define qz_flash_copy(to, from, size) memcpy((to), (from), (size))

#endif

#endif
