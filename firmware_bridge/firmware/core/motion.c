#include "motion.h"

#include <string.h>

#include "bytes.h"

/* Phases of a lane. */
enum {
    START, /* waits until the memory is written */
    REST,  /* motor off before DIR changes */
    AIM,   /* DIR is set, motor still off */
    DRIVE,
    DROP,      /* lid closed: what was taken in falls into the drum */
    LEVEL,     /* lid closed: the lift follows, as REST, AIM, DRIVE */
    LEVEL_AIM,
    LEVEL_DRIVE,
    CHOOSE,    /* which place is fed next */
    FEED_AIM,
    FEED_PULSE,
    FEED_COUNT,
    TOOL_AIM,
    TOOL_PULSE,
    TOOL_REST,
    TIP_AIM,
    TIP_PULSE,
    TIP_REST,
    BUILD,
    RUN_ON, /* all walls are full; the drum must be empty now */
};

#define DEAD_MS 20u
#define SELECT_MS 5u
#define FEED_MS 20u
#define TOOL_MS 200u
#define TIP_REST_MS 300u
#define RUN_ON_MS 300u
#define DROP_MS 300u
#define PAUSE_MS 100u /* heads run out before tiles are fed and counted */
#define COUNT_BOUNCE_MS 3u
#define SWITCH_BOUNCE_MS 10u
#define STUCK_MS 1000u /* a stack or a tile passes a sensor in far less */
#define BOTH_MS 100u   /* a switch that just opens may overlap with nothing */

/* What a TOOL pulse does, by SEL. */
#define SEL_DICE 0u
#define SEL_INDICATOR 1u
#define SEL_TIP 2u

#define PENDING 0x80u /* of `turn`: a tile was fed and not yet counted */

#define MOTORS (QZ_OUT_BUILD | QZ_OUT_LIFT | QZ_OUT_LID | QZ_OUT_FEED | QZ_OUT_TOOL)
#define COUNTS (QZ_IN_COUNT0 | QZ_IN_COUNT1 | QZ_IN_COUNT2 | QZ_IN_COUNT3)

/* Of the board itself, in 10 ms, in the order of the configuration. */
static const uint16_t own_timeouts[10] QZ_FLASH = {
    1000, 2500, 12000, 2000, 12000, 2000, 150, 100, 2000, 50,
};

/* No motor runs against a stop for longer, whatever is configured. */
#define LONGEST_MS 60000u

static uint16_t at_most(uint32_t ms) {
    return ms > LONGEST_MS ? (uint16_t)LONGEST_MS : (uint16_t)ms;
}

static uint32_t configured_ms(const qz_board_t *board, uint8_t op) {
    const uint8_t at =
        op <= QZ_OP_FLIP_INDICATOR ? (uint8_t)(op - QZ_OP_OPEN_LID) : (uint8_t)(op - QZ_OP_HOME + QZ_TIMEOUT_HOME);
    uint16_t steps = qz_get_u16(board->config + QZ_AT_BOARD_CONFIG_TIMEOUTS + 2 * at);
    if (steps == 0) {
        steps = qz_flash_u16(&own_timeouts[at]);
    }
    return (uint32_t)steps * QZ_TIMEOUT_UNIT_MS;
}

static uint16_t timeout_ms(const qz_board_t *board, uint8_t op) {
    return at_most(configured_ms(board, op));
}

/* A part of a motion's time within which one stack or one tile must come; never too short to be one. */
static uint16_t stall_ms(const qz_board_t *board, uint8_t op, uint8_t shift) {
    const uint16_t part = at_most(configured_ms(board, op) >> shift);
    return part < 200u ? 200u : part;
}

static const uint8_t *plan(const qz_board_t *board) {
    return board->config + QZ_AT_BOARD_CONFIG_WALLS;
}

bool qz_motion_any(const qz_board_t *board, uint8_t mode) {
    return board->lanes[0].mode == mode || board->lanes[1].mode == mode;
}

static bool on(const qz_board_t *board, uint16_t input) {
    return (board->inputs & input) != 0;
}

static uint16_t count_input(uint8_t place) {
    return (uint16_t)(QZ_IN_COUNT0 << place);
}

static void enter(qz_lane_t *lane, uint8_t phase) {
    lane->phase = phase;
    lane->in_phase = 0;
}

static bool lifts(uint8_t op) {
    return op == QZ_OP_RAISE_WALLS || op == QZ_OP_DEAL || op == QZ_OP_LOWER;
}

static bool feeding(const qz_board_t *board) {
    const qz_lane_t *const lane = &board->lanes[QZ_LANE_OF_SURFACE];
    return lane->mode == QZ_MODE_RUNS && lane->phase >= CHOOSE && lane->phase <= FEED_COUNT;
}

static bool building(const qz_board_t *board) {
    const qz_lane_t *const lane = &board->lanes[QZ_LANE_OF_DRUM];
    return lane->mode == QZ_MODE_RUNS && lane->phase >= BUILD && !feeding(board);
}

static void set_outputs(qz_board_t *board) {
    const qz_lane_t *const lane = &board->lanes[QZ_LANE_OF_SURFACE];
    const qz_lane_t *const drum = &board->lanes[QZ_LANE_OF_DRUM];
    uint8_t out = board->outputs & (uint8_t)~MOTORS;
    if (lane->mode == QZ_MODE_RUNS) {
        if (lane->phase == DRIVE) {
            const bool lid = lane->op == QZ_OP_OPEN_LID || lane->op == QZ_OP_CLOSE_LID ||
                             (lane->op == QZ_OP_JOG && lane->args[0] == 1);
            out |= lid ? QZ_OUT_LID : QZ_OUT_LIFT;
        } else if (lane->phase == LEVEL_DRIVE) {
            out |= QZ_OUT_LIFT;
        } else if (lane->phase == FEED_PULSE) {
            out |= QZ_OUT_FEED;
        } else if (lane->phase == TOOL_PULSE || lane->phase == TIP_PULSE) {
            out |= QZ_OUT_TOOL;
        }
    }
    if (building(board)) {
        out |= QZ_OUT_BUILD;
    }
    if (drum->mode == QZ_MODE_RUNS && drum->phase == TIP_PULSE) {
        out |= QZ_OUT_TOOL;
    }
    board->outputs = out;
}

static void select_place(qz_board_t *board, uint8_t place) {
    board->outputs = (board->outputs & (uint8_t)~(QZ_OUT_SEL0 | QZ_OUT_SEL1)) | (uint8_t)(place << 6);
}

/* -- what becomes of the tiles ------------------------------------------------------------------------- */

static void magazine_leaves(qz_board_t *board) {
    board->where.magazine = board->where.drum ? QZ_MAGAZINE_LOADED : QZ_MAGAZINE_EMPTY;
}

/* A set that is not built is loose, however many stacks of it stand. */
static void scatter(qz_board_t *board, bool tiles) {
    memset(board->where.stacks, 0, QZ_PLACES);
    board->where.drum = tiles;
    magazine_leaves(board);
}

static void walls_from_magazine(qz_board_t *board) {
    memcpy(board->where.walls, board->where.stacks, QZ_PLACES);
    memset(board->where.stacks, 0, QZ_PLACES);
}

static void nothing_drawn(qz_board_t *board) {
    memset(board->dealt, 0, QZ_PLACES);
    board->dice[0] = board->dice[1] = 0;
    board->indicator = false;
    board->where.taken = false;
}

static void clear_table(qz_board_t *board) {
    memset(board->where.walls, 0, QZ_PLACES);
    nothing_drawn(board);
}

static void lid_stays_open(qz_board_t *board) {
    if (board->where.surface == QZ_SURFACE_DEALT || board->where.surface == QZ_SURFACE_WALLS_UP) {
        clear_table(board);
    }
    board->where.surface = QZ_SURFACE_COLLECTING;
    board->where.lid_closed = false;
}

static void tiles_on_table(qz_board_t *board, uint8_t from_surface) {
    board->where.surface = QZ_SURFACE_DEALT;
    board->where.taken = true;
    if (from_surface == QZ_SURFACE_CLEAR) {
        walls_from_magazine(board);
        magazine_leaves(board);
    }
}

static void give_up(qz_board_t *board, qz_lane_t *lane) {
    switch (lane->op) {
    case QZ_OP_START_BUILD:
        scatter(board, true);
        break;
    case QZ_OP_RAISE_WALLS:
    case QZ_OP_DEAL:
    case QZ_OP_LOWER:
        tiles_on_table(board, lane->from_surface);
        break;
    case QZ_OP_OPEN_LID:
    case QZ_OP_CLOSE_LID:
        lid_stays_open(board);
        break;
    default:
        break;
    }
    lane->mode = QZ_MODE_IDLE;
    lane->op = 0;
}

void qz_motion_leave(qz_board_t *board) {
    for (uint8_t n = 0; n < QZ_LANES; n++) {
        if (board->lanes[n].mode == QZ_MODE_CUT) {
            give_up(board, &board->lanes[n]);
        }
    }
}

/* -- begin, cut, go on --------------------------------------------------------------------------------- */

static void start(qz_board_t *board, qz_lane_t *lane) {
    lane->mode = QZ_MODE_RUNS;
    enter(lane, START);
    if (lane->op == QZ_OP_START_BUILD) {
        memset(board->quiet, 0, sizeof board->quiet);
    }
}

void qz_motion_begin(qz_board_t *board, uint8_t op, const uint8_t *args, uint8_t length, uint32_t cmd_id) {
    qz_lane_t *const lane = &board->lanes[op == QZ_OP_START_BUILD ? QZ_LANE_OF_DRUM : QZ_LANE_OF_SURFACE];
    lane->op = op;
    lane->cmd_id = cmd_id;
    lane->from_surface = board->where.surface;
    memset(lane->args, 0, sizeof lane->args);
    memcpy(lane->args, args, length);
    start(board, lane);
    switch (op) {
    case QZ_OP_START_BUILD:
        board->where.magazine = QZ_MAGAZINE_BUILDING;
        board->where.drum = false;
        memset(board->where.stacks, 0, QZ_PLACES);
        break;
    case QZ_OP_OPEN_LID:
        board->where.lid_closed = false;
        break;
    case QZ_OP_ROLL_DICE:
        board->dice[0] = board->dice[1] = 0;
        break;
    case QZ_OP_DEAL:
        memset(board->dealt, 0, QZ_PLACES);
        board->turn = lane->args[4] & (QZ_PLACES - 1); /* the dealer's place first */
        break;
    default:
        break;
    }
}

void qz_motion_resume(qz_board_t *board, uint32_t cmd_id) {
    for (uint8_t n = 0; n < QZ_LANES; n++) {
        if (board->lanes[n].mode == QZ_MODE_CUT) {
            board->lanes[n].cmd_id = cmd_id;
            start(board, &board->lanes[n]);
        }
    }
}

static void cut(qz_board_t *board, qz_lane_t *lane) {
    lane->mode = QZ_MODE_CUT;
    if (lifts(lane->op)) {
        board->where.surface = QZ_SURFACE_UNKNOWN;
    }
}

void qz_motion_stop(qz_board_t *board) {
    for (uint8_t n = 0; n < QZ_LANES; n++) {
        if (board->lanes[n].mode == QZ_MODE_RUNS) {
            cut(board, &board->lanes[n]);
        }
    }
    set_outputs(board);
}

/* -- ends ---------------------------------------------------------------------------------------------- */

static void fail(qz_board_t *board, uint8_t number, uint8_t fault, uint8_t place, uint8_t count) {
    qz_lane_t *const lane = &board->lanes[number];
    const qz_ended_t ended = {number, lane->op, lane->from_surface, {fault, place, count}, 0, {0, 0, 0, 0}};
    if (lane->op == QZ_OP_START_BUILD) {
        uint8_t counted[QZ_PLACES]; /* stays on show until the next build */
        memcpy(counted, board->where.stacks, QZ_PLACES);
        scatter(board, counted[0] | counted[1] | counted[2] | counted[3] | (fault != QZ_FAULT_TILES_SHORT));
        memcpy(board->where.stacks, counted, QZ_PLACES);
        lane->mode = QZ_MODE_IDLE;
    } else if (lane->op == QZ_OP_OPEN_LID || lane->op == QZ_OP_CLOSE_LID) {
        lid_stays_open(board);
        lane->mode = QZ_MODE_IDLE;
    } else {
        board->turn &= (uint8_t)~PENDING;
        cut(board, lane);
    }
    if (lane->mode == QZ_MODE_IDLE) {
        lane->op = 0;
    }
    set_outputs(board);
    qz_board_ended(board, &ended);
}

/* Numbers for dice: 16 bits of xorshift, stirred by the moments at which bytes arrive. */
static uint8_t die(qz_board_t *board) {
    uint8_t bits;
    do {
        board->noise ^= (uint16_t)(board->noise << 7);
        board->noise ^= (uint16_t)(board->noise >> 9);
        board->noise ^= (uint16_t)(board->noise << 8);
        bits = (uint8_t)(board->noise >> 5) & 7u;
    } while (bits >= 6);
    return (uint8_t)(bits + 1);
}

static void finish(qz_board_t *board, uint8_t number) {
    qz_lane_t *const lane = &board->lanes[number];
    qz_ended_t ended = {number, lane->op, lane->from_surface, {0, QZ_NO_PLACE, 0}, 0, {0, 0, 0, 0}};
    switch (lane->op) {
    case QZ_OP_OPEN_LID:
        clear_table(board);
        board->where.surface = QZ_SURFACE_COLLECTING;
        break;
    case QZ_OP_CLOSE_LID:
        board->where.surface = QZ_SURFACE_CLEAR;
        board->where.lid_closed = true;
        break;
    case QZ_OP_START_BUILD:
        board->where.magazine = QZ_MAGAZINE_READY;
        memcpy(ended.values, board->where.stacks, QZ_PLACES);
        ended.length = QZ_PLACES;
        break;
    case QZ_OP_RAISE_WALLS:
        walls_from_magazine(board);
        nothing_drawn(board);
        board->where.surface = QZ_SURFACE_WALLS_UP;
        magazine_leaves(board);
        memcpy(ended.values, board->where.walls, QZ_PLACES);
        ended.length = QZ_PLACES;
        break;
    case QZ_OP_DEAL:
        if (lane->from_surface != QZ_SURFACE_WALLS_UP) {
            walls_from_magazine(board);
            nothing_drawn(board);
            magazine_leaves(board);
        }
        board->where.surface = QZ_SURFACE_DEALT;
        memcpy(board->dealt, lane->args, QZ_PLACES);
        board->where.taken = true;
        memcpy(ended.values, lane->args, QZ_PLACES);
        ended.length = QZ_PLACES;
        break;
    case QZ_OP_LOWER:
        if (board->where.walls[0] | board->where.walls[1] | board->where.walls[2] | board->where.walls[3]) {
            memcpy(board->where.stacks, board->where.walls, QZ_PLACES);
        }
        memset(board->where.walls, 0, QZ_PLACES);
        board->where.surface = QZ_SURFACE_CLEAR;
        board->where.magazine = QZ_MAGAZINE_READY;
        break;
    case QZ_OP_ROLL_DICE:
        ended.values[0] = board->dice[0] = die(board);
        ended.values[1] = board->dice[1] = die(board);
        ended.length = 2;
        break;
    case QZ_OP_FLIP_INDICATOR:
        board->indicator = true;
        break;
    case QZ_OP_JOG: /* nobody opened it but us */
        board->where.lid_closed = on(board, QZ_IN_LID_CLOSED);
        break;
    default:
        break;
    }
    lane->mode = QZ_MODE_IDLE;
    lane->op = 0;
    set_outputs(board);
    qz_board_ended(board, &ended);
}

/* -- lift and lid -------------------------------------------------------------------------------------- */

/* The switch that says the goal is reached, in `lane`'s present phase; 0: none does. */
static uint16_t goal(const qz_lane_t *lane) {
    switch (lane->op) {
    case QZ_OP_OPEN_LID:
        return QZ_IN_LID_OPEN;
    case QZ_OP_CLOSE_LID:
        return lane->phase < LEVEL ? QZ_IN_LID_CLOSED : QZ_IN_LIFT_BOTTOM;
    case QZ_OP_RAISE_WALLS:
    case QZ_OP_DEAL:
        return QZ_IN_LIFT_TOP;
    case QZ_OP_JOG:
        return lane->args[0] == 1 ? (lane->args[2] & 0x80u ? QZ_IN_LID_CLOSED : QZ_IN_LID_OPEN)
                                  : (lane->args[2] & 0x80u ? QZ_IN_LIFT_BOTTOM : QZ_IN_LIFT_TOP);
    default:
        return QZ_IN_LIFT_BOTTOM;
    }
}

static void arrived(qz_board_t *board, qz_lane_t *lane) {
    if (lane->op == QZ_OP_DEAL) {
        board->outputs &= (uint8_t)~MOTORS;
        enter(lane, CHOOSE);
    } else if (lane->op == QZ_OP_CLOSE_LID && lane->phase < DROP) {
        enter(lane, DROP);
    } else {
        finish(board, QZ_LANE_OF_SURFACE);
    }
}

static uint16_t jog_ms(const qz_board_t *board, const qz_lane_t *lane) {
    const uint16_t steps = qz_get_u16(lane->args + QZ_ARGS_JOG_STEPS);
    const uint16_t asked = at_most((uint32_t)(steps & 0x8000u ? 0u - steps : steps) * 10u);
    const uint16_t most = timeout_ms(board, QZ_OP_JOG);
    return asked < most ? asked : most;
}

/* Whether the goal is reached. One that is at its other end too is not: a switch lies, which ends the motion. */
static bool at_goal(qz_board_t *board, qz_lane_t *lane) {
    const uint16_t reached = goal(lane);
    const bool up = (reached & (QZ_IN_LID_OPEN | QZ_IN_LIFT_TOP)) != 0;
    const uint16_t other = (uint16_t)(up ? reached << 1 : reached >> 1);
    if (!on(board, reached)) {
        return false;
    }
    if (on(board, other)) {
        fail(board, QZ_LANE_OF_SURFACE, QZ_FAULT_SENSOR_STUCK, QZ_NO_PLACE, 0);
        return true;
    }
    arrived(board, lane);
    return true;
}

static void drive(qz_board_t *board, qz_lane_t *lane, uint16_t in_phase) {
    const uint16_t reached = goal(lane);
    if (at_goal(board, lane)) {
        return;
    }
    if (lane->op == QZ_OP_JOG) {
        if (in_phase >= jog_ms(board, lane)) {
            finish(board, QZ_LANE_OF_SURFACE);
        }
    } else if (in_phase >= timeout_ms(board, lane->op)) {
        const bool lid = (reached & (QZ_IN_LID_OPEN | QZ_IN_LID_CLOSED)) != 0;
        fail(board, QZ_LANE_OF_SURFACE, lid ? QZ_FAULT_LID_TIMEOUT : QZ_FAULT_LIFT_TIMEOUT, QZ_NO_PLACE, 0);
    }
}

static void aim(qz_board_t *board, qz_lane_t *lane) {
    if (goal(lane) & (QZ_IN_LID_OPEN | QZ_IN_LIFT_TOP)) {
        board->outputs |= QZ_OUT_DIR;
    } else {
        board->outputs &= (uint8_t)~QZ_OUT_DIR;
    }
    enter(lane, (uint8_t)(lane->phase + 1));
}

/* -- tiles to places ----------------------------------------------------------------------------------- */

/* Whether the phases of tipping are over. */
static bool tip(qz_lane_t *lane) {
    const uint16_t longest =
        lane->phase == TIP_AIM ? SELECT_MS : lane->phase == TIP_PULSE ? TOOL_MS : TIP_REST_MS;
    if (lane->in_phase < longest) {
        return false;
    }
    if (lane->phase == TIP_REST) {
        return true;
    }
    enter(lane, (uint8_t)(lane->phase + 1));
    return false;
}

static bool tip_runs(const qz_board_t *board) {
    const qz_lane_t *const lane = &board->lanes[QZ_LANE_OF_DRUM];
    return lane->mode == QZ_MODE_RUNS && lane->phase >= TIP_AIM && lane->phase <= TIP_REST;
}

static bool select_in_use(const qz_board_t *board) {
    const qz_lane_t *const lane = &board->lanes[QZ_LANE_OF_SURFACE];
    return lane->mode == QZ_MODE_RUNS && lane->phase >= CHOOSE && lane->phase <= TOOL_REST;
}

static void choose(qz_board_t *board, qz_lane_t *lane, uint16_t in_phase) {
    if (board->turn & PENDING) {
        enter(lane, FEED_COUNT);
        return;
    }
    if (board->lanes[QZ_LANE_OF_DRUM].mode == QZ_MODE_RUNS && (tip_runs(board) || in_phase < PAUSE_MS)) {
        if (tip_runs(board)) {
            lane->in_phase = 0;
        }
        return;
    }
    for (uint8_t n = 0; n < QZ_PLACES; n++) {
        const uint8_t place = (uint8_t)(board->turn + n) & (QZ_PLACES - 1);
        if (board->dealt[place] < lane->args[place]) {
            board->turn = place;
            select_place(board, place);
            enter(lane, FEED_AIM);
            return;
        }
    }
    finish(board, QZ_LANE_OF_SURFACE);
}

static void count_tile(qz_board_t *board) {
    const uint8_t place = board->turn & (QZ_PLACES - 1);
    qz_lane_t *const lane = &board->lanes[QZ_LANE_OF_SURFACE];
    board->dealt[place]++;
    board->turn = (uint8_t)(place + 1) & (QZ_PLACES - 1);
    if (lane->mode == QZ_MODE_RUNS) {
        enter(lane, CHOOSE);
        lane->in_phase = PAUSE_MS; /* the heads stand already */
    }
}

static void set_out(qz_board_t *board, qz_lane_t *lane) {
    if (lane->op == QZ_OP_JOG || !at_goal(board, lane)) {
        enter(lane, REST);
    }
}

static void surface_tick(qz_board_t *board) {
    qz_lane_t *const lane = &board->lanes[QZ_LANE_OF_SURFACE];
    const uint16_t in_phase = lane->in_phase;
    switch (lane->phase) {
    case START:
        if (board->memory_dirty) {
            break;
        }
        if (lane->op == QZ_OP_ROLL_DICE || lane->op == QZ_OP_FLIP_INDICATOR) {
            if (!tip_runs(board)) {
                select_place(board, lane->op == QZ_OP_FLIP_INDICATOR ? SEL_INDICATOR : SEL_DICE);
                enter(lane, TOOL_AIM);
            }
        } else if (lane->op == QZ_OP_LOWER && board->where.magazine != QZ_MAGAZINE_READY) {
            select_place(board, SEL_TIP); /* unfinished stacks make room */
            enter(lane, TIP_AIM);
        } else {
            set_out(board, lane);
        }
        break;
    case TIP_AIM:
    case TIP_PULSE:
    case TIP_REST:
        if (tip(lane)) {
            set_out(board, lane);
        }
        break;
    case REST:
    case LEVEL:
        if (in_phase >= DEAD_MS) {
            aim(board, lane);
        }
        break;
    case AIM:
    case LEVEL_AIM:
        if (in_phase >= DEAD_MS) {
            enter(lane, (uint8_t)(lane->phase + 1));
        }
        break;
    case DRIVE:
    case LEVEL_DRIVE:
        drive(board, lane, in_phase);
        break;
    case DROP:
        if (in_phase >= DROP_MS) {
            enter(lane, LEVEL);
            if (on(board, QZ_IN_LIFT_BOTTOM)) {
                finish(board, QZ_LANE_OF_SURFACE);
            }
        }
        break;
    case CHOOSE:
        choose(board, lane, in_phase);
        break;
    case FEED_AIM:
        if (in_phase >= SELECT_MS) {
            board->turn |= PENDING;
            enter(lane, FEED_PULSE);
        }
        break;
    case FEED_PULSE:
        if (in_phase >= FEED_MS) {
            enter(lane, FEED_COUNT);
        }
        break;
    case FEED_COUNT:
        if (in_phase >= stall_ms(board, QZ_OP_DEAL, 5)) {
            fail(board, QZ_LANE_OF_SURFACE, QZ_FAULT_JAM, board->turn & (QZ_PLACES - 1), 0);
        }
        break;
    case TOOL_AIM:
        if (in_phase >= SELECT_MS) {
            enter(lane, TOOL_PULSE);
        }
        break;
    case TOOL_PULSE:
        if (in_phase >= TOOL_MS) {
            enter(lane, TOOL_REST);
        }
        break;
    case TOOL_REST:
        if (in_phase + TOOL_MS >= timeout_ms(board, lane->op)) {
            finish(board, QZ_LANE_OF_SURFACE);
        }
        break;
    default:
        break;
    }
}

/* -- building ------------------------------------------------------------------------------------------ */

static bool all_full(const qz_board_t *board) {
    for (uint8_t place = 0; place < QZ_PLACES; place++) {
        if (board->where.stacks[place] < plan(board)[place]) {
            return false;
        }
    }
    return true;
}

static void short_of_tiles(qz_board_t *board) {
    uint8_t place = QZ_NO_PLACE;
    uint8_t gaps = 0;
    uint16_t missing = 0;
    for (uint8_t n = 0; n < QZ_PLACES; n++) {
        if (board->where.stacks[n] < plan(board)[n]) {
            missing = (uint16_t)(missing + 2u * (plan(board)[n] - board->where.stacks[n]));
            gaps++;
            place = n;
        }
    }
    fail(board, QZ_LANE_OF_DRUM, QZ_FAULT_TILES_SHORT, gaps == 1 ? place : QZ_NO_PLACE,
         missing > 255u ? 255u : (uint8_t)missing);
}

static void stalled(qz_board_t *board, uint8_t place) {
    if (on(board, QZ_IN_DRUM)) {
        fail(board, QZ_LANE_OF_DRUM, QZ_FAULT_JAM, place, 0);
    } else {
        short_of_tiles(board);
    }
}

static void build(qz_board_t *board, qz_lane_t *lane) {
    if (all_full(board)) {
        enter(lane, RUN_ON);
        return;
    }
    const uint16_t longest = stall_ms(board, QZ_OP_START_BUILD, 3);
    for (uint8_t place = 0; place < QZ_PLACES; place++) {
        if (board->where.stacks[place] < plan(board)[place] && board->quiet[place] >= longest) {
            stalled(board, place);
            return;
        }
    }
}

static void drum_tick(qz_board_t *board) {
    qz_lane_t *const lane = &board->lanes[QZ_LANE_OF_DRUM];
    const uint16_t in_phase = lane->in_phase;
    switch (lane->phase) {
    case START:
        if (board->memory_dirty) {
            break;
        }
        if (lane->args[1]) { /* cut while it was building: go on */
            enter(lane, BUILD);
        } else if (!select_in_use(board)) {
            select_place(board, SEL_TIP);
            enter(lane, TIP_AIM);
        }
        break;
    case TIP_AIM:
    case TIP_PULSE:
    case TIP_REST:
        if (tip(lane)) {
            lane->args[1] = 1;
            enter(lane, BUILD);
        }
        break;
    case BUILD:
        if (!feeding(board)) {
            build(board, lane);
        }
        break;
    case RUN_ON:
        if (feeding(board)) {
            lane->in_phase = 0;
        } else if (in_phase >= RUN_ON_MS) {
            if (on(board, QZ_IN_DRUM)) {
                fail(board, QZ_LANE_OF_DRUM, QZ_FAULT_TILES_OVER, QZ_NO_PLACE, 0);
            } else {
                finish(board, QZ_LANE_OF_DRUM);
            }
        }
        break;
    default:
        break;
    }
}

/* -- inputs -------------------------------------------------------------------------------------------- */

static void debounce(qz_board_t *board, uint8_t elapsed_ms, uint16_t inputs) {
    uint16_t bit = 1;
    board->rose = 0;
    for (uint8_t n = 0; n < QZ_INPUTS; n++, bit = (uint16_t)(bit << 1)) {
        uint8_t *const age = &board->age[n];
        if (!((inputs ^ board->inputs) & bit)) {
            *age = 0;
            continue;
        }
        const uint8_t longest = bit & COUNTS ? COUNT_BOUNCE_MS : SWITCH_BOUNCE_MS;
        *age = *age == 0 ? 1 : *age + elapsed_ms > 255 ? 255 : (uint8_t)(*age + elapsed_ms);
        if (*age > longest) {
            *age = 0;
            board->inputs ^= bit;
            board->rose |= board->inputs & bit;
        }
    }
}

static void count_stack(qz_board_t *board, uint8_t place) {
    const qz_lane_t *const lane = &board->lanes[QZ_LANE_OF_DRUM];
    if (lane->op != QZ_OP_START_BUILD || !lane->args[1]) {
        return;
    }
    board->quiet[place] = 0;
    if (board->where.stacks[place] < 255) {
        board->where.stacks[place]++;
    }
    if (board->where.stacks[place] > plan(board)[place] && lane->mode == QZ_MODE_RUNS) {
        fail(board, QZ_LANE_OF_DRUM, QZ_FAULT_TILES_OVER, QZ_NO_PLACE, 0);
    }
}

static void take_counts(qz_board_t *board, uint8_t elapsed_ms) {
    const qz_lane_t *const lane = &board->lanes[QZ_LANE_OF_SURFACE];
    const bool builds = building(board);
    const bool counts = builds || feeding(board);
    for (uint8_t place = 0; place < QZ_PLACES; place++) {
        const bool high = on(board, count_input(place));
        if (board->rose & count_input(place)) {
            if (lane->op == QZ_OP_DEAL && board->turn == (PENDING | place)) {
                count_tile(board);
            } else {
                count_stack(board, place);
            }
        }
        if (builds && board->quiet[place] < LONGEST_MS) {
            board->quiet[place] = (uint16_t)(board->quiet[place] + elapsed_ms);
        }
        board->high[place] = (uint16_t)(counts && high ? board->high[place] + elapsed_ms : 0);
        if (board->high[place] >= STUCK_MS) {
            board->high[place] = 0;
            if (building(board)) {
                fail(board, QZ_LANE_OF_DRUM, QZ_FAULT_SENSOR_STUCK, place, 0);
            }
            if (feeding(board)) {
                fail(board, QZ_LANE_OF_SURFACE, QZ_FAULT_SENSOR_STUCK, place, 0);
            }
        }
    }
}

static bool knows(const qz_board_t *board, uint8_t fault) {
    for (uint8_t n = 0; n < board->faults_used; n++) {
        if (board->faults[n].fault == fault) {
            return true;
        }
    }
    return false;
}

/* Lift at the top and at the bottom, or lid open and closed: one of the switches lies. */
static void watch_switches(qz_board_t *board, uint8_t elapsed_ms) {
    const bool lid = on(board, QZ_IN_LID_OPEN) && on(board, QZ_IN_LID_CLOSED);
    const bool lift = on(board, QZ_IN_LIFT_TOP) && on(board, QZ_IN_LIFT_BOTTOM);
    if (!lid && !lift) {
        board->both = 0;
        return;
    }
    if (board->both <= BOTH_MS) {
        board->both = (uint8_t)(board->both + (elapsed_ms > BOTH_MS ? BOTH_MS + 1 : elapsed_ms));
        return;
    }
    if (board->lanes[QZ_LANE_OF_SURFACE].mode == QZ_MODE_RUNS) {
        fail(board, QZ_LANE_OF_SURFACE, QZ_FAULT_SENSOR_STUCK, QZ_NO_PLACE, 0);
        board->both = 0;
    } else if (!knows(board, QZ_FAULT_SENSOR_STUCK)) {
        qz_board_fault(board, (qz_fault_report_t){QZ_FAULT_SENSOR_STUCK, QZ_NO_PLACE, 0});
        board->both = 0;
    }
}

/* What the inputs say of themselves, with no motion that would explain it. */
static void look(qz_board_t *board) {
    const qz_lane_t *const lane = &board->lanes[QZ_LANE_OF_SURFACE];
    const bool closed = on(board, QZ_IN_LID_CLOSED);
    if (lane->mode == QZ_MODE_IDLE) {
        if (board->where.lid_closed && !closed) {
            board->where.lid_closed = false;
            qz_board_opened(board);
        } else if (!board->where.lid_closed && closed && board->where.surface != QZ_SURFACE_COLLECTING) {
            board->where.lid_closed = true;
        }
    }
    if (board->lanes[QZ_LANE_OF_DRUM].mode == QZ_MODE_IDLE && on(board, QZ_IN_DRUM)) {
        board->where.drum = true;
        if (board->where.magazine == QZ_MAGAZINE_EMPTY) {
            board->where.magazine = QZ_MAGAZINE_LOADED;
        }
    }
}

void qz_motion_tick(qz_board_t *board, uint8_t elapsed_ms, uint16_t inputs) {
    for (uint8_t n = 0; n < QZ_LANES; n++) {
        qz_lane_t *const lane = &board->lanes[n];
        if (lane->in_phase < LONGEST_MS) {
            lane->in_phase = (uint16_t)(lane->in_phase + elapsed_ms);
        }
    }
    debounce(board, elapsed_ms, inputs);
    take_counts(board, elapsed_ms);
    watch_switches(board, elapsed_ms);
    if (board->lanes[QZ_LANE_OF_SURFACE].mode == QZ_MODE_RUNS) {
        surface_tick(board);
    }
    if (board->lanes[QZ_LANE_OF_DRUM].mode == QZ_MODE_RUNS) {
        drum_tick(board);
    }
    look(board);
    set_outputs(board);
}

/* -- power-up ------------------------------------------------------------------------------------------ */

static void restore(qz_board_t *board, const qz_memory_t *memory) {
    qz_lane_t *const lane = &board->lanes[QZ_LANE_OF_SURFACE];
    board->where = memory->where;
    if (memory->op[QZ_LANE_OF_DRUM]) {
        scatter(board, true);
    }
    lane->op = memory->op[QZ_LANE_OF_SURFACE];
    lane->from_surface = memory->from_surface;
    if (lane->op == QZ_OP_RAISE_WALLS || lane->op == QZ_OP_LOWER) {
        cut(board, lane);
    } else if (lane->op) {
        give_up(board, lane);
    }
}

void qz_motion_init(qz_board_t *board, const qz_memory_t *memory) {
    qz_lane_t *const lane = &board->lanes[QZ_LANE_OF_SURFACE];
    if (memory != NULL && memory->known == QZ_MEMORY_KNOWN) {
        restore(board, memory);
    } else {
        board->where.surface = QZ_SURFACE_CLEAR;
        board->where.magazine = QZ_MAGAZINE_EMPTY;
        board->where.lid_closed = true;
    }
    board->where.lid_closed = board->where.lid_closed && on(board, QZ_IN_LID_CLOSED);
    /* A lift between its switches was cut, whatever is remembered. */
    if (lane->mode == QZ_MODE_IDLE && !on(board, QZ_IN_LIFT_TOP | QZ_IN_LIFT_BOTTOM) &&
        (board->where.surface == QZ_SURFACE_CLEAR || board->where.surface == QZ_SURFACE_WALLS_UP)) {
        lane->op = QZ_OP_LOWER;
        lane->from_surface = QZ_SURFACE_WALLS_UP;
        cut(board, lane);
    }
    look(board);
}
