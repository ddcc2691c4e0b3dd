#include "board.h"

#include <string.h>

#include "parts.h"

void qz_board_stop(qz_board_t *board) {
    board->stopped = true;
}

uint8_t qz_board_outputs(const qz_board_t *board) {
    const uint8_t steering = QZ_OUT_DIR | QZ_OUT_SEL0 | QZ_OUT_SEL1;
    return board->stopped ? board->outputs & steering : board->outputs;
}

static uint16_t less(uint16_t left, uint32_t elapsed) {
    return left > elapsed ? (uint16_t)(left - elapsed) : 0;
}

void qz_board_tick(qz_board_t *board, uint32_t now_ms, uint16_t inputs) {
    const uint32_t passed = now_ms - board->now;
    const uint8_t elapsed = passed > 255u ? 255u : (uint8_t)passed;
    board->now = now_ms;
    board->lease_left = less(board->lease_left, passed);
    board->heard_left = less(board->heard_left, passed);
    board->repeat_left = (uint8_t)less(board->repeat_left, elapsed);
    qz_obey_stop(board);
    qz_watch_lease(board);
    qz_watch_key(board);
    qz_motion_tick(board, elapsed, inputs);
    qz_revise(board);
    qz_flush(board);
    qz_repeat(board);
}

void qz_board_init(qz_board_t *board, const qz_boot_t *boot, uint32_t now_ms, uint16_t inputs) {
    memset(board, 0, sizeof *board);
    board->uid = boot->uid;
    board->boot_id = boot->boot_id;
    board->cause = boot->cause;
    board->booted_at = board->now = now_ms;
    board->inputs = inputs;
    board->locked = true;
    board->next_no = 1;
    board->noise = (uint16_t)boot->boot_id ^ (uint16_t)boot->uid;
    board->noise |= board->noise == 0;
    qz_decoder_init(&board->decoder);
    qz_config_init(board, boot->config);
    if (boot->memory != NULL && boot->memory->known == QZ_MEMORY_KNOWN) {
        board->memory = *boot->memory;
        board->last_seen = board->forgotten = board->memory.last_id;
        board->interrupted[0] = board->memory.running[0];
        board->interrupted[1] = board->memory.running[1];
    } else if (boot->memory != NULL) {
        board->memory.boots = boot->memory->boots;
    }
    qz_motion_init(board, boot->memory);
    qz_revise(board);
    board->state_rev = board->detail_rev = 0;
    qz_keep_memory(board);
    const uint8_t cause = boot->cause;
    qz_event(board, QZ_EVENT_BOOTED, &cause, 1);
}
