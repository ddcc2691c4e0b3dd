/* Numbered events, until the host has acknowledged them, and all else that is sent unasked. */
#include <string.h>

#include "parts.h"

/* Milliseconds between repetitions of unacknowledged events, at most EVENT_BURST at a time. */
#define EVENT_REPEAT_MS 250u /* fits a byte */
#define EVENT_BURST 4u

static qz_ring_event_t *event_slot(qz_board_t *board, uint32_t no) {
    return &board->events[no % QZ_EVENT_RING];
}

qz_ring_event_t *qz_new_event(qz_board_t *board, uint32_t time) {
    qz_ring_event_t *const slot = event_slot(board, board->next_no++);
    slot->time = time;
    if (board->unacked < QZ_EVENT_RING) {
        board->unacked++;
    }
    if (board->unpushed < QZ_EVENT_RING) {
        board->unpushed++;
    }
    return slot;
}

void qz_event(qz_board_t *board, uint8_t code, const uint8_t *args, uint8_t length) {
    qz_record_t *const record = &qz_new_event(board, qz_uptime(board))->record;
    record->result = 0;
    record->code = code;
    record->length = length;
    if (length != 0) {
        memcpy(record->values, args, length);
    }
}

void qz_out_record(qz_board_t *board, const qz_record_t *record, uint32_t state_rev) {
    qz_out_u32_at(board, &record->cmd_id);
    qz_out_u8(board, record->result);
    qz_out_u8(board, record->code);
    qz_out_u32_at(board, &record->time);
    qz_out_u32(board, state_rev);
    qz_out_bytes(board, record->values, record->length);
}

static bool send_event(qz_board_t *board, uint32_t no) {
    const qz_ring_event_t *const slot = event_slot(board, no);
    const qz_record_t *const record = &slot->record;
    const bool report = record->result == 0;
    if (!qz_out_begin(board, report ? QZ_KIND_EVENT : QZ_KIND_CMD_DONE, 0, board->session,
                      (uint8_t)((report ? QZ_EVENT_SIZE : QZ_CMD_DONE_SIZE) + record->length))) {
        return false;
    }
    qz_out_u32(board, no);
    if (report) {
        qz_out_u32_at(board, &slot->time);
        qz_out_u8(board, record->code);
        qz_out_bytes(board, record->values, record->length);
    } else {
        qz_out_record(board, record, slot->time);
    }
    qz_out_end(board);
    return true;
}

static bool listening(const qz_board_t *board) {
    return board->session != 0 && board->heard_left != 0;
}

void qz_flush(qz_board_t *board) {
    if (!listening(board)) {
        board->status_due = false;
        board->unpushed = 0;
        return;
    }
    if (board->status_due) {
        if (!qz_send_status(board, 0)) {
            return;
        }
        board->status_due = false;
    }
    while (board->unpushed > 0 && send_event(board, board->next_no - board->unpushed)) {
        board->unpushed--;
    }
}

void qz_repeat(qz_board_t *board) {
    if (!listening(board) || board->repeat_left != 0) {
        return;
    }
    board->repeat_left = EVENT_REPEAT_MS;
    for (uint8_t n = 0; n < EVENT_BURST && n < board->unacked; n++) {
        send_event(board, board->next_no - board->unacked + n);
    }
}
