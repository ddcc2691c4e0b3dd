/* Frames on their way out: written straight to the ring, with COBS and check sum as they go. */
#include "parts.h"

static void ring_put(qz_board_t *board, uint8_t byte) {
    board->tx[(uint8_t)(board->tx_head + board->tx_used) % QZ_TX_RING] = byte;
    board->tx_used++;
}

static void block(qz_board_t *board) {
    board->code_at = (uint8_t)(board->tx_head + board->tx_used) % QZ_TX_RING;
    board->code = 1;
    ring_put(board, 0);
}

static void stuff(qz_board_t *board, uint8_t byte) {
    if (byte == 0) {
        board->tx[board->code_at] = board->code;
        block(board);
    } else {
        ring_put(board, byte);
        board->code++;
    }
}

void qz_out_u8(qz_board_t *board, uint8_t value) {
    board->crc = qz_crc_byte(board->crc, value);
    stuff(board, value);
}

void qz_out_u16(qz_board_t *board, uint16_t value) {
    qz_out_u8(board, (uint8_t)value);
    qz_out_u8(board, (uint8_t)(value >> 8));
}

void qz_out_u32(qz_board_t *board, uint32_t value) {
    qz_out_u16(board, (uint16_t)value);
    qz_out_u16(board, (uint16_t)(value >> 16));
}

void qz_out_u32_at(qz_board_t *board, const uint32_t *value) {
    qz_out_u32(board, *value);
}

void qz_out_bytes(qz_board_t *board, const uint8_t *bytes, uint8_t length) {
    while (length--) {
        qz_out_u8(board, *bytes++);
    }
}

bool qz_out_begin(qz_board_t *board, uint8_t kind, uint8_t seq, uint16_t session, uint8_t payload_length) {
    /* Head, check sum, one byte of stuffing, two borders. */
    if (payload_length + QZ_FRAME_HEAD + QZ_FRAME_CRC + 3u + board->tx_used > QZ_TX_RING) {
        return false;
    }
    board->crc = QZ_CRC_START;
    ring_put(board, 0);
    block(board);
    qz_out_u8(board, kind);
    qz_out_u8(board, seq);
    qz_out_u16(board, session);
    return true;
}

bool qz_out_answer(qz_board_t *board, const qz_frame_t *frame, uint8_t kind, uint8_t payload_length) {
    return qz_out_begin(board, kind, frame->seq, frame->session, payload_length);
}

void qz_out_end(qz_board_t *board) {
    const uint16_t crc = qz_crc_end(board->crc);
    stuff(board, (uint8_t)(crc >> 8));
    stuff(board, (uint8_t)crc);
    board->tx[board->code_at] = board->code;
    ring_put(board, 0);
}

uint8_t qz_board_take(qz_board_t *board, uint8_t *buffer, uint8_t max) {
    uint8_t taken = 0;
    while (taken < max && board->tx_used > 0) {
        buffer[taken++] = board->tx[board->tx_head];
        board->tx_head = (uint8_t)(board->tx_head + 1) % QZ_TX_RING;
        board->tx_used--;
    }
    return taken;
}
