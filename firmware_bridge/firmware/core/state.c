/* What the board tells of itself: STATUS, revisions, what the interlock sees, what outlives a reset. */
#include <string.h>

#include "bytes.h"
#include "interlock.h"
#include "parts.h"

uint32_t qz_uptime(const qz_board_t *board) {
    return board->now - board->booted_at;
}

static uint32_t ops_in(const qz_board_t *board, uint8_t mode) {
    uint32_t ops = 0;
    for (uint8_t n = 0; n < QZ_LANES; n++) {
        if (board->lanes[n].mode == mode) {
            ops |= (uint32_t)QZ_OPS(board->lanes[n].op);
        }
    }
    return ops;
}

bool qz_service_key(const qz_board_t *board) {
    return (board->inputs & QZ_IN_SERVICE) != 0;
}

uint16_t qz_faults_of(const qz_board_t *board) {
    uint16_t faults = 0;
    for (uint8_t n = 0; n < board->faults_used; n++) {
        faults |= QZ_FAULTS(board->faults[n].fault);
    }
    return faults;
}

uint8_t qz_board_may_move(const qz_board_t *board, uint8_t op, const uint8_t *args) {
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
    state.service = qz_service_key(board);
    state.faults = qz_faults_of(board);
    state.running = ops_in(board, QZ_MODE_RUNS);
    state.cut = ops_in(board, QZ_MODE_CUT);
    qz_quad_copy(state.stacks, board->where.stacks);
    qz_quad_copy(state.walls, board->where.walls);
    qz_quad_copy(state.plan, board->config + QZ_AT_BOARD_CONFIG_WALLS);
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
                                FLAG(3, qz_motion_any(board, QZ_MODE_CUT)) |
                                FLAG(LEASE, board->lease_left != 0) |
                                FLAG(5, board->where.drum) | FLAG(6, board->where.taken) |
                                FLAG(7, qz_service_key(board)));
    look[AT(FLAGS) + 1] = board->indicator;
    qz_put_u32(look + AT(HAND_NO), board->hand_no);
    qz_quad_copy(look + AT(STACKS), board->where.stacks);
    qz_quad_copy(look + AT(WALLS), board->where.walls);
    qz_quad_copy(look + AT(DEALT), board->dealt);
    qz_quad_copy(look + AT(PLAN), board->config + QZ_AT_BOARD_CONFIG_WALLS);
    look[AT(DICE)] = board->dice[0];
    look[AT(DICE) + 1] = board->dice[1];
    look[AT(LIFT)] = board->inputs & QZ_IN_LIFT_TOP ? 100 : board->inputs & QZ_IN_LIFT_BOTTOM ? 0 : 50;
}

/* Progress, which nobody decides by: indicator, stacks beneath, tiles dealt, dice, lift. */
static bool is_detail(uint8_t at) {
    return at == AT(FLAGS) + 1 || (at >= AT(STACKS) && at < AT(WALLS)) ||
           (at >= AT(DEALT) && at < AT(PLAN)) ||
           (at >= AT(DICE) && at < QZ_LOOK_SIZE);
}

void qz_keep_memory(qz_board_t *board) {
    qz_memory_t wanted;
    memset(&wanted, 0, sizeof wanted);
    wanted.last_id = board->memory.last_id;
    wanted.boots = board->memory.boots;
    wanted.known = QZ_MEMORY_KNOWN;
    wanted.where = board->where;
    if (board->where.magazine == QZ_MAGAZINE_BUILDING) { /* no write for every stack */
        qz_quad_clear(wanted.where.stacks);
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

void qz_revise(qz_board_t *board) {
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
    qz_put_u16(at, qz_faults_of(board));
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
        qz_keep_memory(board);
    }
}

bool qz_send_status(qz_board_t *board, uint8_t seq) {
    uint8_t look[QZ_LOOK_SIZE];
    uint8_t modes[QZ_MODE_CUT + 1] = {0};
    for (uint8_t n = 0; n < QZ_LANES; n++) {
        modes[board->lanes[n].mode]++;
    }
    const uint8_t runs = modes[QZ_MODE_RUNS];
    const uint8_t cut = modes[QZ_MODE_CUT];
    const uint8_t size_of_faults = (uint8_t)(board->faults_used * QZ_FAULT_REPORT_SIZE);
    if (!qz_out_begin(board, QZ_KIND_STATUS, seq, board->session,
                      (uint8_t)(QZ_STATUS_SIZE + runs * QZ_ACTIVE_OP_SIZE + cut + size_of_faults))) {
        return false;
    }
    describe(board, look);
    qz_out_u32_at(board, &board->state_rev);
    qz_out_u32_at(board, &board->detail_rev);
    qz_out_bytes(board, look, QZ_LOOK_SIZE);
    qz_out_u8(board, runs);
    qz_out_u8(board, cut);
    qz_out_u8(board, board->faults_used);
    for (uint8_t n = 0; n < QZ_LANES; n++) {
        if (board->lanes[n].mode == QZ_MODE_RUNS) {
            qz_out_u32_at(board, &board->lanes[n].cmd_id);
            qz_out_u8(board, board->lanes[n].op);
        }
    }
    for (uint8_t n = QZ_LANES; n-- > 0;) { /* START_BUILD is the lowest number that can be cut with another */
        if (board->lanes[n].mode == QZ_MODE_CUT) {
            qz_out_u8(board, board->lanes[n].op);
        }
    }
    qz_out_bytes(board, (const uint8_t *)board->faults, size_of_faults);
    qz_out_end(board);
    return true;
}
