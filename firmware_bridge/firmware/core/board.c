#include "board.h"

#include <string.h>

#include "bytes.h"
#include "interlock.h"
#include "motion.h"

/* Milliseconds between repetitions of unacknowledged events, at most EVENT_BURST at a time. */
#define EVENT_REPEAT_MS 250u /* fits a byte */
#define EVENT_BURST 4u

/* Without a valid frame for so long nothing is sent unasked: nobody seems to listen. */
#define SILENCE_MS 3000u

#define CAPS                                                                                                 \
    (QZ_CAP_RAISES_WALLS | QZ_CAP_DEALS | QZ_CAP_DICE | QZ_CAP_INDICATOR | QZ_CAP_SERVICE | QZ_CAP_COUNTS)

#define VERSION_MAJOR 0
#define VERSION_MINOR 2
#define VERSION_PATCH 0

static const uint8_t own_config[QZ_BOARD_CONFIG_SIZE] QZ_FLASH = {'1', '3', '6', 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                                                  17,  17,  17,  17};

static uint32_t uptime(const qz_board_t *board) {
    return board->now - board->booted_at;
}

/* -- out ----------------------------------------------------------------------------------------------- */

static void ring_put(qz_board_t *board, uint8_t byte) {
    board->tx[(uint8_t)(board->tx_head + board->tx_used) % QZ_TX_RING] = byte;
    board->tx_used++;
}

/* A frame is written straight to the ring, with its COBS and its check sum as it goes. */
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

static void put_u8(qz_board_t *board, uint8_t value) {
    board->crc = qz_crc_byte(board->crc, value);
    stuff(board, value);
}

static void put_u16(qz_board_t *board, uint16_t value) {
    put_u8(board, (uint8_t)value);
    put_u8(board, (uint8_t)(value >> 8));
}

static void put_u32(qz_board_t *board, uint32_t value) {
    put_u16(board, (uint16_t)value);
    put_u16(board, (uint16_t)(value >> 16));
}

static void put_bytes(qz_board_t *board, const uint8_t *bytes, uint8_t length) {
    while (length--) {
        put_u8(board, *bytes++);
    }
}

/* False: no room. Such a frame is lost, as on the line: the other side asks again. */
static bool begin_frame(qz_board_t *board, uint8_t kind, uint8_t seq, uint16_t session, uint8_t payload_length) {
    /* Head, check sum, one byte of stuffing, two borders. */
    if (payload_length + QZ_FRAME_HEAD + QZ_FRAME_CRC + 3u + board->tx_used > QZ_TX_RING) {
        return false;
    }
    board->crc = QZ_CRC_START;
    ring_put(board, 0);
    block(board);
    put_u8(board, kind);
    put_u8(board, seq);
    put_u16(board, session);
    return true;
}

static bool begin_answer(qz_board_t *board, const qz_frame_t *frame, uint8_t kind, uint8_t payload_length) {
    return begin_frame(board, kind, frame->seq, frame->session, payload_length);
}

static void end_frame(qz_board_t *board) {
    const uint16_t crc = qz_crc_end(board->crc);
    stuff(board, (uint8_t)(crc >> 8));
    stuff(board, (uint8_t)crc);
    board->tx[board->code_at] = board->code;
    ring_put(board, 0);
}

static bool listening(const qz_board_t *board) {
    return board->session != 0 && board->heard_left != 0;
}

/* -- state --------------------------------------------------------------------------------------------- */

static uint32_t ops_in(const qz_board_t *board, uint8_t mode) {
    uint32_t ops = 0;
    for (uint8_t n = 0; n < QZ_LANES; n++) {
        if (board->lanes[n].mode == mode) {
            ops |= (uint32_t)QZ_OPS(board->lanes[n].op);
        }
    }
    return ops;
}

static bool service_key(const qz_board_t *board) {
    return (board->inputs & QZ_IN_SERVICE) != 0;
}

static uint16_t faults_of(const qz_board_t *board) {
    uint16_t faults = 0;
    for (uint8_t n = 0; n < board->faults_used; n++) {
        faults |= QZ_FAULTS(board->faults[n].fault);
    }
    return faults;
}

static uint8_t may_move(const qz_board_t *board, uint8_t op, const uint8_t *args) {
    qz_state_t state;
    memset(&state, 0, sizeof state);
    state.surface = board->where.surface;
    state.magazine = board->where.magazine;
    state.lid = board->where.lid_closed ? QZ_LID_CLOSED : QZ_LID_OPEN;
    state.locked = board->locked;
    state.has_hand_no = board->has_hand;
    state.hand_no = board->hand_no;
    state.lease = board->lease_left != 0;
    state.estop = board->estop;
    state.hold = qz_motion_any(board, QZ_MODE_CUT);
    state.drum = board->where.drum;
    state.taken = board->where.taken;
    state.service = service_key(board);
    state.faults = faults_of(board);
    state.running = ops_in(board, QZ_MODE_RUNS);
    state.cut = ops_in(board, QZ_MODE_CUT);
    memcpy(state.stacks, board->where.stacks, QZ_PLACES);
    memcpy(state.walls, board->where.walls, QZ_PLACES);
    memcpy(state.plan, board->config + QZ_AT_BOARD_CONFIG_WALLS, QZ_PLACES);
    return qz_may_move(&state, op, args);
}

/* Bits of STATUS, and where its fields stand in the part that tells of the state. */
#define FLAG(bit, is) ((is) ? 1u << (bit) : 0u)
#define LEASE 4
#define AT(field) (QZ_AT_STATUS_##field - QZ_AT_STATUS_SURFACE)

/* What STATUS tells between its revisions and its counts. */
static void describe(const qz_board_t *board, uint8_t *look) {
    look[AT(SURFACE)] = board->where.surface;
    look[AT(MAGAZINE)] = board->where.magazine;
    look[AT(LID)] = board->where.lid_closed ? QZ_LID_CLOSED : QZ_LID_OPEN;
    look[AT(FLAGS)] = (uint8_t)(FLAG(0, board->locked) | FLAG(1, board->has_hand) | FLAG(2, board->estop) |
                                FLAG(3, qz_motion_any(board, QZ_MODE_CUT)) | FLAG(LEASE, board->lease_left != 0) |
                                FLAG(5, board->where.drum) | FLAG(6, board->where.taken) |
                                FLAG(7, service_key(board)));
    look[AT(FLAGS) + 1] = board->indicator;
    qz_put_u32(look + AT(HAND_NO), board->hand_no);
    memcpy(look + AT(STACKS), board->where.stacks, QZ_PLACES);
    memcpy(look + AT(WALLS), board->where.walls, QZ_PLACES);
    memcpy(look + AT(DEALT), board->dealt, QZ_PLACES);
    memcpy(look + AT(PLAN), board->config + QZ_AT_BOARD_CONFIG_WALLS, QZ_PLACES);
    look[AT(DICE)] = board->dice[0];
    look[AT(DICE) + 1] = board->dice[1];
    look[AT(LIFT)] = board->inputs & QZ_IN_LIFT_TOP ? 100 : board->inputs & QZ_IN_LIFT_BOTTOM ? 0 : 50;
}

/* Progress, which nobody decides by: indicator, stacks beneath, tiles dealt, dice, lift. */
static bool is_detail(uint8_t at) {
    return at == AT(FLAGS) + 1 || (at >= AT(STACKS) && at < AT(WALLS)) || (at >= AT(DEALT) && at < AT(PLAN)) ||
           (at >= AT(DICE) && at < QZ_LOOK_SIZE);
}

/* Mark the memory for writing if what it keeps has changed. */
static void keep(qz_board_t *board) {
    qz_memory_t wanted;
    memset(&wanted, 0, sizeof wanted);
    wanted.last_id = board->memory.last_id;
    wanted.boots = board->memory.boots;
    wanted.known = QZ_MEMORY_KNOWN;
    wanted.where = board->where;
    if (board->where.magazine == QZ_MAGAZINE_BUILDING) { /* no write for every stack */
        memset(wanted.where.stacks, 0, QZ_PLACES);
    }
    for (uint8_t n = 0; n < QZ_LANES; n++) {
        const qz_lane_t *const lane = &board->lanes[n];
        wanted.running[n] = lane->mode == QZ_MODE_RUNS ? lane->cmd_id : 0;
        wanted.op[n] = lane->op;
    }
    wanted.from_surface = board->lanes[QZ_LANE_OF_SURFACE].from_surface;
    if (memcmp(&wanted, &board->memory, sizeof wanted) != 0) {
        board->memory = wanted;
        board->memory_dirty = true;
    }
}

static void revise(qz_board_t *board) {
    uint8_t now[QZ_KNOWN_SIZE];
    uint8_t *at = now + QZ_LOOK_SIZE;
    bool state = false;
    bool any = false;
    describe(board, now);
    now[AT(FLAGS)] &= (uint8_t)~FLAG(LEASE, true); /* it comes and goes */
    for (uint8_t n = 0; n < QZ_LANES; n++) {
        *at++ = board->lanes[n].op;
        *at++ = board->lanes[n].mode;
    }
    qz_put_u16(at, faults_of(board));
    for (uint8_t n = 0; n < QZ_KNOWN_SIZE; n++) {
        if (now[n] != board->known[n]) {
            board->known[n] = now[n];
            any = true;
            state = state || !is_detail(n);
        }
    }
    board->detail_rev += any;
    if (state) {
        board->state_rev++;
        keep(board);
    }
}

static bool send_status(qz_board_t *board, uint8_t seq) {
    uint8_t look[QZ_LOOK_SIZE];
    uint8_t modes[QZ_MODE_CUT + 1] = {0};
    for (uint8_t n = 0; n < QZ_LANES; n++) {
        modes[board->lanes[n].mode]++;
    }
    const uint8_t runs = modes[QZ_MODE_RUNS];
    const uint8_t cut = modes[QZ_MODE_CUT];
    const uint8_t size_of_faults = (uint8_t)(board->faults_used * QZ_FAULT_REPORT_SIZE);
    if (!begin_frame(board, QZ_KIND_STATUS, seq, board->session,
                     (uint8_t)(QZ_STATUS_SIZE + runs * QZ_ACTIVE_OP_SIZE + cut + size_of_faults))) {
        return false;
    }
    describe(board, look);
    put_u32(board, board->state_rev);
    put_u32(board, board->detail_rev);
    put_bytes(board, look, QZ_LOOK_SIZE);
    put_u8(board, runs);
    put_u8(board, cut);
    put_u8(board, board->faults_used);
    for (uint8_t n = 0; n < QZ_LANES; n++) {
        if (board->lanes[n].mode == QZ_MODE_RUNS) {
            put_u32(board, board->lanes[n].cmd_id);
            put_u8(board, board->lanes[n].op);
        }
    }
    for (uint8_t n = QZ_LANES; n-- > 0;) { /* START_BUILD is the lowest number that can be cut with another */
        if (board->lanes[n].mode == QZ_MODE_CUT) {
            put_u8(board, board->lanes[n].op);
        }
    }
    put_bytes(board, (const uint8_t *)board->faults, size_of_faults);
    end_frame(board);
    return true;
}

/* -- events -------------------------------------------------------------------------------------------- */

static qz_ring_event_t *event_slot(qz_board_t *board, uint32_t no) {
    return &board->events[no % QZ_EVENT_RING];
}

static qz_ring_event_t *new_event(qz_board_t *board, uint32_t time) {
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

static void event(qz_board_t *board, uint8_t code, const uint8_t *args, uint8_t length) {
    qz_record_t *const record = &new_event(board, uptime(board))->record;
    record->result = 0;
    record->code = code;
    record->length = length;
    if (length != 0) {
        memcpy(record->values, args, length);
    }
}

/* The common end of CMD_DONE and OUTCOME. */
static void put_record(qz_board_t *board, const qz_record_t *record, uint32_t state_rev) {
    put_u32(board, record->cmd_id);
    put_u8(board, record->result);
    put_u8(board, record->code);
    put_u32(board, record->time);
    put_u32(board, state_rev);
    put_bytes(board, record->values, record->length);
}

static bool send_event(qz_board_t *board, uint32_t no) {
    const qz_ring_event_t *const slot = event_slot(board, no);
    const qz_record_t *const record = &slot->record;
    const bool report = record->result == 0;
    if (!begin_frame(board, report ? QZ_KIND_EVENT : QZ_KIND_CMD_DONE, 0, board->session,
                     (uint8_t)((report ? QZ_EVENT_SIZE : QZ_CMD_DONE_SIZE) + record->length))) {
        return false;
    }
    put_u32(board, no);
    if (report) {
        put_u32(board, slot->time);
        put_u8(board, record->code);
        put_bytes(board, record->values, record->length);
    } else {
        put_record(board, record, slot->time);
    }
    end_frame(board);
    return true;
}

/* Send what waits to be sent unasked, as far as there is room. */
static void flush(qz_board_t *board) {
    if (!listening(board)) {
        board->status_due = false;
        board->unpushed = 0;
        return;
    }
    if (board->status_due) {
        if (!send_status(board, 0)) {
            return;
        }
        board->status_due = false;
    }
    while (board->unpushed > 0 && send_event(board, board->next_no - board->unpushed)) {
        board->unpushed--;
    }
}

static void repeat(qz_board_t *board) {
    if (!listening(board) || board->repeat_left != 0) {
        return;
    }
    board->repeat_left = EVENT_REPEAT_MS;
    for (uint8_t n = 0; n < EVENT_BURST && n < board->unacked; n++) {
        send_event(board, board->next_no - board->unacked + n);
    }
}

/* -- the table of command ids -------------------------------------------------------------------------- */

static qz_record_t *find(qz_board_t *board, uint32_t cmd_id) {
    for (uint8_t n = 0; n < QZ_RECORDS; n++) {
        if (board->records[n].cmd_id == cmd_id && board->records[n].result != 0) {
            return &board->records[n];
        }
    }
    return NULL;
}

/* In place of the oldest; a running one is never forgotten, and at most two run. */
static qz_record_t *remember(qz_board_t *board, uint32_t cmd_id, uint8_t result, uint8_t code) {
    qz_record_t *record;
    do {
        record = &board->records[board->record_next];
        board->record_next = (uint8_t)(board->record_next + 1) % QZ_RECORDS;
    } while (record->result == QZ_RESULT_RUNNING);
    if (record->cmd_id > board->forgotten) {
        board->forgotten = record->cmd_id;
    }
    memset(record, 0, sizeof *record);
    record->cmd_id = cmd_id;
    record->result = result;
    record->code = code;
    return record;
}

static void close_record(qz_board_t *board, uint32_t cmd_id, uint8_t result, uint8_t code, const uint8_t *values,
                         uint8_t length) {
    qz_record_t *const record = find(board, cmd_id);
    if (record == NULL) {
        return;
    }
    record->result = result;
    record->code = code;
    record->time = board->now - record->time;
    record->length = length;
    if (length != 0) {
        memcpy(record->values, values, length);
    }
    revise(board);
    board->status_due = true;
    new_event(board, board->state_rev)->record = *record;
}

/* -- latches ------------------------------------------------------------------------------------------- */

static void latch(qz_board_t *board, uint8_t op, uint8_t surface, const uint8_t *args) {
    qz_effect_t change;
    qz_effect_of(op, surface, &change);
    if (change.locked != QZ_ANY) {
        board->locked = change.locked != 0;
    }
    switch (change.hand) {
    case QZ_HAND_EFFECT_ZERO:
        board->hand_no = 0;
        board->has_hand = true;
        break;
    case QZ_HAND_EFFECT_GIVEN:
        board->hand_no = qz_get_u32(args + QZ_ARGS_ADOPT_HAND);
        board->has_hand = true;
        break;
    case QZ_HAND_EFFECT_NEXT:
        board->hand_no = board->has_hand ? board->hand_no + 1 : 1;
        board->has_hand = true;
        break;
    default:
        break;
    }
}

static bool has_fault(const qz_board_t *board, uint8_t fault) {
    return (faults_of(board) & QZ_FAULTS(fault)) != 0;
}

static void add_fault(qz_board_t *board, const qz_fault_report_t *report) {
    for (uint8_t n = 0; n < board->faults_used; n++) {
        if (board->faults[n].fault == report->fault && board->faults[n].place == report->place) {
            board->faults[n] = *report;
            return;
        }
    }
    if (board->faults_used < QZ_FAULTS_MAX) {
        board->faults[board->faults_used++] = *report;
    }
}

/* A motion that begins or is given up ends the faults that only say that it was cut. */
static void end_hold(qz_board_t *board) {
    uint8_t kept = 0;
    for (uint8_t n = 0; n < board->faults_used; n++) {
        const uint8_t fault = board->faults[n].fault;
        if (fault != QZ_FAULT_LEASE_EXPIRED && fault != QZ_FAULT_HELD && fault != QZ_FAULT_ESTOPPED) {
            board->faults[kept++] = board->faults[n];
        }
    }
    board->faults_used = kept;
}

static void cut_all(qz_board_t *board, uint8_t fault, uint8_t code) {
    uint32_t ids[QZ_LANES];
    if (!qz_motion_any(board, QZ_MODE_RUNS)) {
        return;
    }
    for (uint8_t n = 0; n < QZ_LANES; n++) {
        ids[n] = board->lanes[n].mode == QZ_MODE_RUNS ? board->lanes[n].cmd_id : 0;
    }
    qz_motion_stop(board);
    if (!has_fault(board, fault)) {
        const qz_fault_report_t report = {fault, QZ_NO_PLACE, 0};
        add_fault(board, &report);
    }
    event(board, code, NULL, 0);
    for (uint8_t n = 0; n < QZ_LANES; n++) {
        if (ids[n] != 0 && (n == 0 || ids[1] != ids[0])) { /* one RESUME may have moved both */
            close_record(board, ids[n], QZ_RESULT_ABORTED, fault, NULL, 0);
        }
    }
}

static void latch_stop(qz_board_t *board) {
    if (!board->estop) {
        board->estop = true;
        event(board, QZ_EVENT_ESTOP, NULL, 0);
    }
    cut_all(board, QZ_FAULT_ESTOPPED, QZ_EVENT_HELD);
    qz_decoder_forget(&board->decoder);
    revise(board);
    /* Also where one is latched already: a CLEAR that was sent for the earlier must not end the later. */
    board->state_rev++;
    board->detail_rev++;
    board->status_due = true;
}

/* A stop that an interrupt saw. */
static void obey_stop(qz_board_t *board) {
    if (board->stopped) {
        board->stopped = false; /* first: one that comes now is obeyed once more */
        latch_stop(board);
    }
}

static void watch_lease(qz_board_t *board) {
    if (board->lease_left == 0) {
        cut_all(board, QZ_FAULT_LEASE_EXPIRED, QZ_EVENT_LEASE_EXPIRED);
    }
}

void qz_board_fault(qz_board_t *board, qz_fault_report_t report) {
    const uint8_t args[3] = {report.fault, report.place, report.count};
    add_fault(board, &report);
    event(board, QZ_EVENT_FAULT, args, sizeof args);
}

void qz_board_opened(qz_board_t *board) {
    event(board, QZ_EVENT_INTAKE_OPENED_EARLY, NULL, 0);
}

void qz_board_ended(qz_board_t *board, const qz_ended_t *ended) {
    const uint32_t cmd_id = board->lanes[ended->lane].cmd_id;
    const qz_lane_t *const other = &board->lanes[ended->lane ^ 1];
    qz_record_t *const record = find(board, cmd_id);
    if (ended->report.fault == 0) {
        latch(board, ended->op, ended->from_surface, NULL);
    } else {
        if (record != NULL) {
            record->code = ended->report.fault;
        }
        qz_board_fault(board, ended->report);
    }
    if (record == NULL || (other->mode == QZ_MODE_RUNS && other->cmd_id == cmd_id)) {
        return; /* a RESUME of both lanes ends with the second */
    }
    /* The values of a motion that was resumed belong to the command that was cut. */
    const uint8_t length = record->length == QZ_PLACES + 1 ? 0 : ended->length;
    close_record(board, cmd_id, record->code ? QZ_RESULT_FAILED : QZ_RESULT_DONE, record->code, ended->values,
                 length);
}

/* -- in ------------------------------------------------------------------------------------------------ */

static void hello(qz_board_t *board, const qz_frame_t *frame) {
    qz_hello_t asked;
    if (!qz_hello_read(frame->payload, frame->length, &asked)) {
        return;
    }
    const bool common = asked.proto_min <= QZ_PROTOCOL && QZ_PROTOCOL <= asked.proto_max;
    board->session = common ? frame->session : 0;
    board->heard_left = SILENCE_MS;
    const qz_record_t *const last = find(board, board->last_seen);
    if (!begin_answer(board, frame, QZ_KIND_WELCOME, QZ_WELCOME_SIZE)) {
        return;
    }
    put_u8(board, common ? QZ_PROTOCOL : 0);
    put_u32(board, asked.nonce);
    put_u32(board, (uint32_t)board->uid);
    put_u32(board, (uint32_t)(board->uid >> 32));
    put_u32(board, board->boot_id);
    put_u8(board, board->cause);
    put_bytes(board, board->config + QZ_AT_BOARD_CONFIG_PROFILE, QZ_AT_BOARD_CONFIG_WALLS);
    put_u16(board, qz_crc(board->config, QZ_BOARD_CONFIG_SIZE));
    put_u16(board, CAPS);
    put_u32(board, uptime(board));
    put_u32(board, board->last_seen);
    put_u8(board, last != NULL ? last->result : QZ_RESULT_NEVER_SEEN);
    put_u32(board, board->next_no - board->unacked);
    put_u32(board, board->next_no - 1);
    put_u8(board, VERSION_MAJOR);
    put_u8(board, VERSION_MINOR);
    put_u8(board, VERSION_PATCH);
    put_u32(board, QZ_SCHEMA);
    end_frame(board);
    board->repeat_left = 0;
}

static void ping(qz_board_t *board, const qz_frame_t *frame) {
    qz_ping_t asked;
    if (!qz_ping_read(frame->payload, frame->length, &asked)) {
        return;
    }
    board->lease_left = asked.lease_ms;
    revise(board);
    if (begin_answer(board, frame, QZ_KIND_PONG, QZ_PONG_SIZE)) {
        put_u32(board, asked.t_host);
        put_u32(board, uptime(board));
        put_u32(board, board->state_rev);
        put_u32(board, board->detail_rev);
        end_frame(board);
    }
}

static void answer_status(qz_board_t *board, const qz_frame_t *frame) {
    revise(board);
    send_status(board, frame->seq);
}

/* Why this command is refused; 0: it is not. */
static uint8_t examine(qz_board_t *board, const qz_cmd_t *cmd) {
    if (cmd->op < QZ_OP_FIRST || cmd->op > QZ_OP_LAST || cmd->op == QZ_OP_LAMP) {
        return QZ_REASON_UNSUPPORTED;
    }
    if (cmd->args_len != qz_flash_u8(&qz_args_size[cmd->op]) ||
        (cmd->op == QZ_OP_START_BUILD && cmd->args[QZ_ARGS_START_BUILD_MODE] != 0) ||
        (cmd->op == QZ_OP_JOG && cmd->args[QZ_ARGS_JOG_AXIS] > 1)) {
        return QZ_REASON_BAD_ARGUMENTS;
    }
    revise(board);
    if (cmd->rev != board->state_rev &&
        (cmd->rev != QZ_ANY_REV || qz_rule_has(cmd->op, QZ_RULE_NAMES_REV))) {
        return QZ_REASON_STALE_STATE;
    }
    return may_move(board, cmd->op, cmd->args);
}

static void begin(qz_board_t *board, const qz_cmd_t *cmd, qz_record_t *record) {
    end_hold(board);
    if (cmd->op == QZ_OP_RESUME) {
        record->length = QZ_PLACES + 1; /* until its end: brings no values back */
        qz_motion_resume(board, cmd->cmd_id);
        return;
    }
    qz_effect_t change;
    qz_effect_of(cmd->op, board->where.surface, &change);
    if (change.flags & QZ_EFFECT_LOCK_FIRST) {
        board->locked = true;
    }
    qz_motion_begin(board, cmd->op, cmd->args, cmd->args_len, cmd->cmd_id);
}

static void leave(qz_board_t *board) {
    const qz_lane_t *const lane = &board->lanes[QZ_LANE_OF_SURFACE];
    /* What was being raised or dealt counts as dealt: somebody may play it. */
    if (lane->mode == QZ_MODE_CUT && (lane->op == QZ_OP_RAISE_WALLS || lane->op == QZ_OP_DEAL)) {
        latch(board, lane->op, lane->from_surface, NULL);
    }
    qz_motion_leave(board);
    end_hold(board);
}

static void execute(qz_board_t *board, const qz_cmd_t *cmd, qz_record_t *record) {
    board->executed++;
    switch (cmd->op) {
    case QZ_OP_ADOPT:
    case QZ_OP_START:
    case QZ_OP_RELEASE_INTAKE:
        latch(board, cmd->op, board->where.surface, cmd->args);
        break;
    case QZ_OP_CLEAR:
        board->estop = false;
        board->faults_used = 0;
        break;
    case QZ_OP_LEAVE:
        leave(board);
        break;
    default:
        begin(board, cmd, record);
        revise(board);
        keep(board);
        return;
    }
    close_record(board, cmd->cmd_id, QZ_RESULT_DONE, 0, NULL, 0);
    keep(board);
}

static void acknowledge(qz_board_t *board, const qz_frame_t *frame, uint32_t cmd_id, uint8_t verdict,
                        uint8_t result, uint8_t code) {
    if (begin_answer(board, frame, QZ_KIND_CMD_ACK, QZ_CMD_ACK_SIZE)) {
        put_u32(board, cmd_id);
        put_u8(board, verdict);
        put_u8(board, result);
        put_u8(board, code);
        put_u32(board, board->state_rev);
        end_frame(board);
    }
}

static void command(qz_board_t *board, const qz_frame_t *frame) {
    qz_cmd_t cmd;
    if (!qz_cmd_read(frame->payload, frame->length, &cmd)) {
        return;
    }
    qz_record_t *record = find(board, cmd.cmd_id);
    if (record != NULL && record->result != QZ_RESULT_NEVER_SEEN) {
        acknowledge(board, frame, cmd.cmd_id, QZ_VERDICT_DUPLICATE, record->result, record->code);
        return;
    }
    if (record != NULL || cmd.cmd_id <= board->last_seen) {
        acknowledge(board, frame, cmd.cmd_id, QZ_VERDICT_REJECTED, QZ_RESULT_REJECTED, QZ_REASON_STALE_ID);
        return;
    }
    board->last_seen = cmd.cmd_id;
    const uint8_t reason = examine(board, &cmd);
    if (reason != 0) {
        remember(board, cmd.cmd_id, QZ_RESULT_REJECTED, reason);
        acknowledge(board, frame, cmd.cmd_id, QZ_VERDICT_REJECTED, QZ_RESULT_REJECTED, reason);
        return;
    }
    record = remember(board, cmd.cmd_id, QZ_RESULT_RUNNING, 0);
    record->time = board->now;
    board->memory.last_id = cmd.cmd_id;
    board->memory_dirty = true;
    acknowledge(board, frame, cmd.cmd_id, QZ_VERDICT_ACCEPTED, QZ_RESULT_RUNNING, 0);
    execute(board, &cmd, record);
}

static void query(qz_board_t *board, const qz_frame_t *frame) {
    qz_query_t asked;
    if (!qz_query_read(frame->payload, frame->length, &asked)) {
        return;
    }
    qz_record_t told;
    memset(&told, 0, sizeof told);
    told.cmd_id = asked.cmd_id;
    const qz_record_t *const record = find(board, asked.cmd_id);
    if (record != NULL) {
        told = *record;
        if (told.result == QZ_RESULT_RUNNING) { /* what it holds of time and values is not for others */
            told.time = 0;
            told.length = 0;
        }
    } else if (asked.cmd_id != 0 &&
               (asked.cmd_id == board->interrupted[0] || asked.cmd_id == board->interrupted[1])) {
        told.result = QZ_RESULT_INTERRUPTED;
    } else if (asked.cmd_id <= board->forgotten) {
        told.result = QZ_RESULT_EXPIRED;
    } else {
        told.result = QZ_RESULT_NEVER_SEEN;
        if (asked.close) {
            remember(board, asked.cmd_id, QZ_RESULT_NEVER_SEEN, 0);
        }
    }
    if (begin_answer(board, frame, QZ_KIND_OUTCOME, (uint8_t)(QZ_OUTCOME_SIZE + told.length))) {
        put_record(board, &told, board->state_rev);
        end_frame(board);
    }
}

static void abort_command(qz_board_t *board, const qz_frame_t *frame) {
    qz_abort_t asked;
    if (!qz_abort_read(frame->payload, frame->length, &asked)) {
        return;
    }
    for (uint8_t n = 0; n < QZ_LANES; n++) {
        if (board->lanes[n].mode == QZ_MODE_RUNS && board->lanes[n].cmd_id == asked.cmd_id) {
            cut_all(board, QZ_FAULT_HELD, QZ_EVENT_HELD);
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

static uint8_t examine_config(const qz_board_t *board, const uint8_t *config) {
    if (memcmp(config, board->config, QZ_BOARD_CONFIG_SIZE) == 0) {
        return 0;
    }
    if (qz_motion_any(board, QZ_MODE_RUNS)) {
        return QZ_REASON_BUSY;
    }
    if (qz_motion_any(board, QZ_MODE_CUT)) {
        return QZ_REASON_HOLD;
    }
    if (board->estop) {
        return QZ_REASON_ESTOP;
    }
    if (board->where.surface != QZ_SURFACE_CLEAR) {
        return QZ_REASON_SURFACE;
    }
    for (uint8_t place = 0; place < QZ_PLACES; place++) {
        if (config[QZ_AT_BOARD_CONFIG_WALLS + place] > QZ_MAX_STACKS) {
            return QZ_REASON_BAD_ARGUMENTS;
        }
    }
    return 0;
}

/* The configuration stays the bytes it is on the wire: nothing is lost on the way to its check sum. */
static void configure(qz_board_t *board, const qz_frame_t *frame) {
    uint8_t reason = 0;
    const bool set = frame->kind == QZ_KIND_CONFIG_SET;
    if (!(set ? qz_config_set_valid(frame->payload, frame->length) : qz_config_get_read(frame->length))) {
        return;
    }
    if (set) {
        reason = examine_config(board, frame->payload);
        if (reason == 0 && memcmp(board->config, frame->payload, QZ_BOARD_CONFIG_SIZE) != 0) {
            memcpy(board->config, frame->payload, QZ_BOARD_CONFIG_SIZE);
            board->config_dirty = true;
            revise(board);
        }
    }
    if (begin_answer(board, frame, QZ_KIND_CONFIG, QZ_CONFIG_SIZE)) {
        put_u8(board, reason);
        put_bytes(board, board->config, QZ_BOARD_CONFIG_SIZE);
        end_frame(board);
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
        command(board, frame);
        break;
    case QZ_KIND_QUERY:
        query(board, frame);
        break;
    case QZ_KIND_EVENT_ACK:
        acknowledge_events(board, frame);
        break;
    case QZ_KIND_HOLD:
        if (qz_hold_read(frame->length)) {
            cut_all(board, QZ_FAULT_HELD, QZ_EVENT_HELD);
            answer_status(board, frame);
        }
        break;
    case QZ_KIND_ABORT:
        abort_command(board, frame);
        break;
    case QZ_KIND_CONFIG_GET:
    case QZ_KIND_CONFIG_SET:
        configure(board, frame);
        break;
    default:
        break;
    }
}

void qz_board_feed(qz_board_t *board, uint8_t byte, uint32_t now_ms) {
    qz_frame_t frame;
    obey_stop(board);
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
    obey_stop(board);
    revise(board);
    flush(board);
}

void qz_board_receive(qz_board_t *board, qz_stop_watch_t *watch, const uint8_t *data, uint16_t length,
                      uint32_t now_ms) {
    uint16_t from = 0;
    for (uint16_t n = 0; n < length; n++) {
        if (qz_stop_byte(watch, data[n])) {
            qz_board_stop(board);
            from = (uint16_t)(n + 1);
        }
    }
    obey_stop(board);
    while (from < length) {
        qz_board_feed(board, data[from++], now_ms);
    }
    flush(board);
}

void qz_board_stop(qz_board_t *board) {
    board->stopped = true;
}

uint8_t qz_board_outputs(const qz_board_t *board) {
    const uint8_t steering = QZ_OUT_DIR | QZ_OUT_SEL0 | QZ_OUT_SEL1;
    return board->stopped ? board->outputs & steering : board->outputs;
}

static uint16_t less(uint16_t left, uint8_t elapsed) {
    return left > elapsed ? (uint16_t)(left - elapsed) : 0;
}

void qz_board_tick(qz_board_t *board, uint32_t now_ms, uint16_t inputs) {
    const uint32_t passed = now_ms - board->now;
    const uint8_t elapsed = passed > 255u ? 255u : (uint8_t)passed;
    board->now = now_ms;
    board->lease_left = less(board->lease_left, elapsed);
    board->heard_left = less(board->heard_left, elapsed);
    board->repeat_left = (uint8_t)less(board->repeat_left, elapsed);
    obey_stop(board);
    watch_lease(board);
    qz_motion_tick(board, elapsed, inputs);
    revise(board);
    flush(board);
    repeat(board);
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
    if (boot->config != NULL) {
        memcpy(board->config, boot->config, QZ_BOARD_CONFIG_SIZE);
    } else {
        qz_flash_copy(board->config, own_config, QZ_BOARD_CONFIG_SIZE);
    }
    if (boot->memory != NULL && boot->memory->known == QZ_MEMORY_KNOWN) {
        board->memory = *boot->memory;
        board->last_seen = board->forgotten = board->memory.last_id;
        board->interrupted[0] = board->memory.running[0];
        board->interrupted[1] = board->memory.running[1];
    } else if (boot->memory != NULL) {
        board->memory.boots = boot->memory->boots;
    }
    qz_motion_init(board, boot->memory);
    revise(board);
    board->state_rev = board->detail_rev = 0;
    keep(board);
    const uint8_t cause = boot->cause;
    event(board, QZ_EVENT_BOOTED, &cause, 1);
}
