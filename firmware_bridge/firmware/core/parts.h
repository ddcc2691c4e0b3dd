/* What the parts of the board offer each other; for the core alone. The board itself is in board.h.
 *
 *     session, writer     the conversation, and its frames on their way out
 *     commands, events    what was asked and became of it, and what is told unasked
 *     state, config       what the board tells of itself, and what it was told of its machine
 *     latches             lock, hand, faults, stop: what the board holds on to, and what cuts a motion
 *     motion, lanes       the phases of the two mechanisms, and the ways in which a motion begins and ends
 *     drives, feed, build lift and lid, tiles to places, stacks beneath
 *     tiles, inputs       where the tiles are, and what the pins say
 */
#ifndef QZ_PARTS_H
#define QZ_PARTS_H

#include "board.h"

/* -- writer.c ------------------------------------------------------------------------------------------ */

/* False: no room. Such a frame is lost, as on the line: the other side asks again. */
bool qz_out_begin(qz_board_t *board, uint8_t kind, uint8_t seq, uint16_t session, uint8_t payload_length);
bool qz_out_answer(qz_board_t *board, const qz_frame_t *frame, uint8_t kind, uint8_t payload_length);
void qz_out_u8(qz_board_t *board, uint8_t value);
void qz_out_u16(qz_board_t *board, uint16_t value);
void qz_out_u32(qz_board_t *board, uint32_t value);
void qz_out_u32_at(qz_board_t *board, const uint32_t *value); /* an address is cheaper to pass */
void qz_out_bytes(qz_board_t *board, const uint8_t *bytes, uint8_t length);
void qz_out_end(qz_board_t *board);

/* -- state.c ------------------------------------------------------------------------------------------- */

uint32_t qz_uptime(const qz_board_t *board); /* ms */
bool qz_service_key(const qz_board_t *board);
uint16_t qz_faults_of(const qz_board_t *board); /* a bit set: QZ_FAULTS() */
uint8_t qz_board_may_move(const qz_board_t *board, uint8_t op, const uint8_t *args); /* 0 or QZ_REASON_ */
void qz_keep_memory(qz_board_t *board); /* mark the memory for writing if what it keeps has changed */
void qz_revise(qz_board_t *board);      /* a new revision if something has changed */
bool qz_send_status(qz_board_t *board, uint8_t seq);

/* -- events.c ------------------------------------------------------------------------------------------ */

qz_ring_event_t *qz_new_event(qz_board_t *board, uint32_t time);
void qz_event(qz_board_t *board, uint8_t code, const uint8_t *args, uint8_t length);
/* The common end of CMD_DONE and OUTCOME. */
void qz_out_record(qz_board_t *board, const qz_record_t *record, uint32_t state_rev);
void qz_flush(qz_board_t *board);  /* send what waits to be sent unasked, as far as there is room */
void qz_repeat(qz_board_t *board); /* and what was not acknowledged in time */

/* -- commands.c ---------------------------------------------------------------------------------------- */

qz_record_t *qz_find_record(qz_board_t *board, uint32_t cmd_id); /* NULL: none */
void qz_close_record(qz_board_t *board, uint32_t cmd_id, uint8_t result, uint8_t code, const uint8_t *values,
                     uint8_t length);
void qz_command(qz_board_t *board, const qz_frame_t *frame);
void qz_query(qz_board_t *board, const qz_frame_t *frame);

/* -- latches.c ----------------------------------------------------------------------------------------- */

/* A motion that ended by itself. `fault` 0: it reached its goal. */
typedef struct {
    uint8_t lane;
    uint8_t op;
    uint8_t from_surface;
    qz_fault_report_t report;
    uint8_t length; /* of values */
    uint8_t values[4];
} qz_ended_t;

/* Lock and hand after `op`. */
void qz_latch(qz_board_t *board, uint8_t op, uint8_t surface, const uint8_t *args);
void qz_end_hold(qz_board_t *board);
void qz_cut_all(qz_board_t *board, uint8_t fault, uint8_t code);
void qz_obey_stop(qz_board_t *board);
void qz_watch_lease(qz_board_t *board);
void qz_watch_key(qz_board_t *board);
void qz_board_ended(qz_board_t *board, const qz_ended_t *ended);
void qz_board_fault(qz_board_t *board, qz_fault_report_t report); /* a sensor says what can not be */
void qz_board_opened(qz_board_t *board);                          /* the lid, by hand */

/* -- config.c ------------------------------------------------------------------------------------------ */

/* No motor runs against a stop for longer, whatever is configured. */
#define LONGEST_MS 60000u

void qz_config_init(qz_board_t *board, const uint8_t *kept); /* NULL: the board's own */
void qz_configure(qz_board_t *board, const qz_frame_t *frame);
const uint8_t *qz_plan(const qz_board_t *board); /* stacks per place */
uint16_t qz_at_most(uint32_t ms);                /* LONGEST_MS */
uint16_t qz_timeout_ms(const qz_board_t *board, uint8_t op);
/* A part of a motion's time within which one stack or one tile must come; never too short to be one. */
uint16_t qz_stall_ms(const qz_board_t *board, uint8_t op, uint8_t shift);

/* -- motion.c ------------------------------------------------------------------------------------------ */

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
    RUN_ON, /* all walls are full; the drum must be empty now, but for tiles that are dealt */
};

#define MOTORS (QZ_OUT_BUILD | QZ_OUT_LIFT | QZ_OUT_LID | QZ_OUT_FEED | QZ_OUT_TOOL)

/* Where tiles and parts are after power-up, from what was kept and from the inputs. */
void qz_motion_init(qz_board_t *board, const qz_memory_t *memory);
/* Debounces, advances, sets outputs. */
void qz_motion_tick(qz_board_t *board, uint8_t elapsed_ms, uint16_t inputs);
void qz_enter(qz_lane_t *lane, uint8_t phase);
void qz_set_outputs(qz_board_t *board);

/* -- lanes.c ------------------------------------------------------------------------------------------- */

bool qz_motion_any(const qz_board_t *board, uint8_t mode);
/* Permission was checked before. `args` as on the wire, of the right length. */
void qz_motion_begin(qz_board_t *board, uint8_t op, const uint8_t *args, uint8_t length, uint32_t cmd_id);
void qz_motion_resume(qz_board_t *board, uint32_t cmd_id);
void qz_motion_stop(qz_board_t *board);  /* outputs off; what moved is cut */
void qz_motion_leave(qz_board_t *board); /* a person finished by hand what was cut */
void qz_cut(qz_board_t *board, qz_lane_t *lane);
void qz_give_up(qz_board_t *board, qz_lane_t *lane);
void qz_fail(qz_board_t *board, uint8_t number, uint8_t fault, uint8_t place, uint8_t count);
void qz_finish(qz_board_t *board, uint8_t number);

/* -- drives.c ------------------------------------------------------------------------------------------ */

void qz_set_out(qz_board_t *board, qz_lane_t *lane); /* a drive begins, unless it is at its goal */
void qz_aim(qz_board_t *board, qz_lane_t *lane);
void qz_drive(qz_board_t *board, qz_lane_t *lane, uint16_t in_phase);

/* -- feed.c -------------------------------------------------------------------------------------------- */

/* What a TOOL pulse does, by SEL. */
#define SEL_DICE 0u
#define SEL_INDICATOR 1u
#define SEL_TIP 2u

#define SELECT_MS 5u
#define TOOL_MS 200u

#define PENDING 0x80u /* of `turn`: a tile was fed and not yet counted */

void qz_select_place(qz_board_t *board, uint8_t place);
bool qz_select_in_use(const qz_board_t *board);
bool qz_tip(qz_lane_t *lane); /* whether the phases of tipping are over */
bool qz_tip_runs(const qz_board_t *board);
bool qz_feeding(const qz_board_t *board);
void qz_choose(qz_board_t *board, qz_lane_t *lane, uint16_t in_phase);
void qz_count_tile(qz_board_t *board);

/* -- build.c ------------------------------------------------------------------------------------------- */

bool qz_building(const qz_board_t *board);
void qz_count_stack(qz_board_t *board, uint8_t place);
void qz_drum_tick(qz_board_t *board);

/* -- tiles.c ------------------------------------------------------------------------------------------- */

/* Four numbers, one per place. Functions, because the chip's compiler would write them out everywhere. */
void qz_quad_copy(uint8_t *to, const uint8_t *from);
void qz_quad_clear(uint8_t *quad);
void qz_scatter(qz_board_t *board, bool tiles);
void qz_magazine_leaves(qz_board_t *board);
void qz_walls_from_magazine(qz_board_t *board);
void qz_nothing_drawn(qz_board_t *board);
void qz_clear_table(qz_board_t *board);
void qz_lid_stays_open(qz_board_t *board, uint8_t op);
void qz_tiles_on_table(qz_board_t *board, uint8_t from_surface);

/* -- inputs.c ------------------------------------------------------------------------------------------ */

bool qz_on(const qz_board_t *board, uint16_t input);
void qz_inputs_debounce(qz_board_t *board, uint8_t elapsed_ms, uint16_t inputs);
void qz_inputs_count(qz_board_t *board, uint8_t elapsed_ms);
void qz_inputs_watch(qz_board_t *board, uint8_t elapsed_ms); /* switches that contradict each other */
void qz_inputs_look(qz_board_t *board); /* what nothing of ours moved */

#endif
