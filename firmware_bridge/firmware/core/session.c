/* The conversation: who may speak, and which answer a request gets. */
#include "parts.h"

/* Without a valid frame for so long nothing is sent unasked: nobody seems to listen. */
#define SILENCE_MS 3000u

#define CAPS                                                                                                 \
    (QZ_CAP_RAISES_WALLS | QZ_CAP_DEALS | QZ_CAP_DICE | QZ_CAP_INDICATOR | QZ_CAP_SERVICE | QZ_CAP_COUNTS)

#define VERSION_MAJOR 0
#define VERSION_MINOR 2
#define VERSION_PATCH 0

static void hello(qz_board_t *board, const qz_frame_t *frame) {
    qz_hello_t asked;
    if (!qz_hello_read(frame->payload, frame->length, &asked)) {
        return;
    }
    const bool common = asked.proto_min <= QZ_PROTOCOL && QZ_PROTOCOL <= asked.proto_max;
    board->session = common ? frame->session : 0;
    board->heard_left = SILENCE_MS;
    const qz_record_t *const last = qz_find_record(board, board->last_seen);
    if (!qz_out_answer(board, frame, QZ_KIND_WELCOME, QZ_WELCOME_SIZE)) {
        return;
    }
    qz_out_u8(board, common ? QZ_PROTOCOL : 0);
    qz_out_u32_at(board, &asked.nonce);
    qz_out_u32(board, (uint32_t)board->uid);
    qz_out_u32(board, (uint32_t)(board->uid >> 32));
    qz_out_u32_at(board, &board->boot_id);
    qz_out_u8(board, board->cause);
    qz_out_bytes(board, board->config + QZ_AT_BOARD_CONFIG_PROFILE, QZ_AT_BOARD_CONFIG_WALLS);
    qz_out_u16(board, qz_crc(board->config, QZ_BOARD_CONFIG_SIZE));
    qz_out_u16(board, CAPS);
    qz_out_u32(board, qz_uptime(board));
    qz_out_u32_at(board, &board->last_seen);
    qz_out_u8(board, last != NULL ? last->result : QZ_RESULT_NEVER_SEEN);
    qz_out_u32(board, board->next_no - board->unacked);
    qz_out_u32(board, board->next_no - 1);
    qz_out_u8(board, VERSION_MAJOR);
    qz_out_u8(board, VERSION_MINOR);
    qz_out_u8(board, VERSION_PATCH);
    qz_out_u32(board, QZ_SCHEMA);
    qz_out_end(board);
    board->repeat_left = 0;
}

static void ping(qz_board_t *board, const qz_frame_t *frame) {
    qz_ping_t asked;
    if (!qz_ping_read(frame->payload, frame->length, &asked)) {
        return;
    }
    board->lease_left = asked.lease_ms < QZ_MAX_LEASE_MS ? asked.lease_ms : QZ_MAX_LEASE_MS;
    qz_revise(board);
    if (qz_out_answer(board, frame, QZ_KIND_PONG, QZ_PONG_SIZE)) {
        qz_out_u32_at(board, &asked.t_host);
        qz_out_u32(board, qz_uptime(board));
        qz_out_u32_at(board, &board->state_rev);
        qz_out_u32_at(board, &board->detail_rev);
        qz_out_end(board);
    }
}

static void answer_status(qz_board_t *board, const qz_frame_t *frame) {
    qz_revise(board);
    qz_send_status(board, frame->seq);
}

static void abort_command(qz_board_t *board, const qz_frame_t *frame) {
    qz_abort_t asked;
    if (!qz_abort_read(frame->payload, frame->length, &asked)) {
        return;
    }
    for (uint8_t n = 0; n < QZ_LANES; n++) {
        if (board->lanes[n].mode == QZ_MODE_RUNS && board->lanes[n].cmd_id == asked.cmd_id) {
            qz_cut_all(board, QZ_FAULT_HELD, QZ_EVENT_HELD);
        }
    }
    answer_status(board, frame);
}

static void acknowledge_events(qz_board_t *board, const qz_frame_t *frame) {
    qz_event_ack_t ack;
    if (qz_event_ack_read(frame->payload, frame->length, &ack)) {
        const uint32_t left = ack.no < board->next_no ? board->next_no - 1 - ack.no : 0;
        if (left < board->unacked) {
            board->unacked = (uint8_t)left;
        }
    }
}

static void request(qz_board_t *board, const qz_frame_t *frame) {
    switch (frame->kind) {
    case QZ_KIND_PING:
        ping(board, frame);
        break;
    case QZ_KIND_STATUS_REQ:
        if (qz_status_req_read(frame->length)) {
            answer_status(board, frame);
        }
        break;
    case QZ_KIND_CMD:
        qz_command(board, frame);
        break;
    case QZ_KIND_QUERY:
        qz_query(board, frame);
        break;
    case QZ_KIND_EVENT_ACK:
        acknowledge_events(board, frame);
        break;
    case QZ_KIND_HOLD:
        if (qz_hold_read(frame->length)) {
            qz_cut_all(board, QZ_FAULT_HELD, QZ_EVENT_HELD);
            answer_status(board, frame);
        }
        break;
    case QZ_KIND_ABORT:
        abort_command(board, frame);
        break;
    case QZ_KIND_CONFIG_GET:
    case QZ_KIND_CONFIG_SET:
        qz_configure(board, frame);
        break;
    default:
        break;
    }
}

void qz_board_feed(qz_board_t *board, uint8_t byte, uint32_t now_ms) {
    qz_frame_t frame;
    qz_obey_stop(board);
    if (!qz_decoder_byte(&board->decoder, byte, &frame) || (frame.kind & QZ_FROM_DEVICE)) {
        return;
    }
    board->noise ^= (uint16_t)now_ms;
    board->noise |= board->noise == 0;
    if (frame.kind == QZ_KIND_HELLO) {
        hello(board, &frame);
    } else if (board->session != 0 && frame.session == board->session) {
        board->heard_left = SILENCE_MS;
        request(board, &frame);
    }
    qz_obey_stop(board);
    qz_revise(board);
    qz_flush(board);
}
