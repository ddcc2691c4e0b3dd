/* The mechanism's state machine: between the board's commands and its pins. Internal to the core. */
#ifndef QZ_MOTION_H
#define QZ_MOTION_H

#include "board.h"

/* A motion that ended by itself. `fault` 0: it reached its goal. */
typedef struct {
    uint8_t lane;
    uint8_t op;
    uint8_t from_surface;
    qz_fault_report_t report;
    uint8_t length; /* of values */
    uint8_t values[4];
} qz_ended_t;

/* Where tiles and parts are after power-up, from what was kept and from the inputs. */
void qz_motion_init(qz_board_t *board, const qz_memory_t *memory);

/* Permission was checked before. `args` as on the wire, of the right length. */
void qz_motion_begin(qz_board_t *board, uint8_t op, const uint8_t *args, uint8_t length, uint32_t cmd_id);
void qz_motion_resume(qz_board_t *board, uint32_t cmd_id);

/* Outputs off; what moved is cut. */
void qz_motion_stop(qz_board_t *board);

/* A person finished by hand what was cut. */
void qz_motion_leave(qz_board_t *board);

/* Debounces, advances, sets outputs. The board hears of ends through qz_board_ended, of a sensor that says
 * what can not be through qz_board_fault, and of a lid opened by hand through qz_board_opened. */
void qz_motion_tick(qz_board_t *board, uint8_t elapsed_ms, uint16_t inputs);

bool qz_motion_any(const qz_board_t *board, uint8_t mode);

void qz_board_ended(qz_board_t *board, const qz_ended_t *ended);
void qz_board_fault(qz_board_t *board, qz_fault_report_t report);
void qz_board_opened(qz_board_t *board);

#endif
