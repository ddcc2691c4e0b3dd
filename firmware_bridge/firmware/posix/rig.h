/* Board and plant together, in a time that is passed in: for the process and for the test library. */
#ifndef QZ_RIG_H
#define QZ_RIG_H

#include "../core/board.h"
#include "../plant/plant.h"

#define QZ_RIG_OUT 65536
#define QZ_RIG_LOG 4096

typedef struct {
    qz_board_t board;
    qz_plant_t plant;
    qz_stop_watch_t watch;
    qz_memory_t memory; /* what an EEPROM would hold */
    uint8_t config[QZ_BOARD_CONFIG_SIZE];
    bool configured;
    bool memory_held; /* nothing is written down: a test of who waits for it */
    uint64_t uid;
    uint32_t now_ms;
    uint32_t executed; /* of boards before the last reset */
    uint32_t logged;   /* commands that took effect, all told */
    uint32_t log[QZ_RIG_LOG]; /* their ids */
    uint32_t sent;
    uint8_t out[QZ_RIG_OUT];
} qz_rig_t;

void qz_rig_start(qz_rig_t *rig, uint64_t uid, uint32_t boot_id, uint32_t speed, uint8_t fresh);
void qz_rig_reset(qz_rig_t *rig, uint32_t boot_id, uint8_t cause);
void qz_rig_receive(qz_rig_t *rig, const uint8_t *data, uint32_t length);
/* The program is held up for so long; then it looks at its inputs again. */
void qz_rig_stall(qz_rig_t *rig, uint32_t ms);

void qz_rig_pass(qz_rig_t *rig, uint32_t ms);
/* Moves up to `max` bytes that the board has sent into `buffer`. */
uint32_t qz_rig_take(qz_rig_t *rig, uint8_t *buffer, uint32_t max);

#endif
