/* Where the tiles are, after what moved them. */
#include <string.h>

#include "parts.h"

void qz_quad_copy(uint8_t *to, const uint8_t *from) {
    memcpy(to, from, QZ_PLACES);
}

void qz_quad_clear(uint8_t *quad) {
    memset(quad, 0, QZ_PLACES);
}

static void nothing_built(qz_board_t *board) {
    board->where.magazine = board->where.drum ? QZ_MAGAZINE_LOADED : QZ_MAGAZINE_EMPTY;
}

void qz_magazine_leaves(qz_board_t *board) {
    if (board->config[QZ_AT_BOARD_CONFIG_DEALT]) { /* what lay in the drum belonged to this set */
        board->where.drum = qz_on(board, QZ_IN_DRUM);
    }
    nothing_built(board);
}

/* A set that is not built is loose, however many stacks of it stand. */
void qz_scatter(qz_board_t *board, bool tiles) {
    qz_quad_clear(board->where.stacks);
    board->where.drum = tiles;
    nothing_built(board);
}

void qz_walls_from_magazine(qz_board_t *board) {
    qz_quad_copy(board->where.walls, board->where.stacks);
    qz_quad_clear(board->where.stacks);
}

void qz_nothing_drawn(qz_board_t *board) {
    qz_quad_clear(board->dealt);
    board->dice[0] = board->dice[1] = 0;
    board->indicator = false;
    board->where.taken = false;
}

void qz_clear_table(qz_board_t *board) {
    qz_quad_clear(board->where.walls);
    qz_nothing_drawn(board);
}

/* A lid that did not close takes nothing in that it did not take in before. */
void qz_lid_stays_open(qz_board_t *board, uint8_t op) {
    if (op == QZ_OP_OPEN_LID) {
        if (board->where.surface == QZ_SURFACE_DEALT) {
            qz_clear_table(board);
        }
        board->where.surface = QZ_SURFACE_COLLECTING;
    }
    board->where.lid_closed = false;
}

void qz_tiles_on_table(qz_board_t *board, uint8_t from_surface) {
    board->where.surface = QZ_SURFACE_DEALT;
    board->where.taken = true;
    if (from_surface == QZ_SURFACE_CLEAR) {
        qz_walls_from_magazine(board);
        qz_magazine_leaves(board);
    }
}
