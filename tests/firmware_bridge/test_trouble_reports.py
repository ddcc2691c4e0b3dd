"""What went wrong for others on serial lines, and the test that keeps each of it from happening here.

`REPORTS` numbers public trouble reports of serial libraries, printers, robots and home controllers; each
names tests, by module (from this folder) and function. Those that fit nowhere else are in `test_trouble_*`.
"""

import ast
from functools import cache
from pathlib import Path

REPORTS = {
    1: ("pyserial/pyserial#341, #86, #17: readable, but nothing there", [
        "test_trouble_unplugged::test_a_hang_up_is_told_once_without_a_traceback",
        "test_transport::test_a_readable_port_without_data_is_lost",
    ]),
    2: ("pyserial/pyserial#68: a loop of exceptions after unplugging", [
        "test_trouble_unplugged::test_a_machine_that_is_away_costs_neither_time_nor_words",
        "test_transport::test_a_device_that_vanishes_is_lost_once",
    ]),
    3: ("pyserial/pyserial#326, #484, #378: two programs on one port", [
        "test_trouble_ports::test_a_second_opening_is_refused_even_within_one_process",
        "test_trouble_ports::test_a_real_port_is_kept_from_careless_openers_too",
        "test_transport::test_a_busy_port_names_its_holder",
        "test_bridge::test_a_ledger_belongs_to_one_bridge",
    ]),
    4: ("iotile/coretools#683: a lock remains after a crash", [
        "test_trouble_ports::test_a_holder_that_was_killed_leaves_no_lock",
    ]),
    5: ("pyserial/pyserial#124, harmsm/PyCmdMessenger#9: opening resets the board", [
        "test_trouble_ports::test_lines_are_low_before_opening_and_hang_up_on_close_is_off_after",
        "test_trouble_boards::test_a_board_that_resets_at_every_opening_waits_for_a_person_each_time",
    ]),
    6: ("Optiboot/optiboot#53, #178: a boot loader eats what comes first", [
        "test_trouble_boards::test_a_boot_loader_that_is_deaf_for_two_seconds_hears_only_greetings",
    ]),
    7: ("florisla/stm32loader#46, henols/firestarter_fw#44: stray bytes at start", [
        "test_codec::test_frames_are_found_in_any_garbage",
        "test_link::test_hello_is_repeated_until_a_welcome_with_its_nonce",
        "test_link::test_a_port_lost_in_mid_frame_is_opened_again",
    ]),
    8: ("jamesmunns/ergot#189: half a frame of a former session", [
        "test_trouble_on_the_line::test_half_a_frame_left_over_spoils_nothing",
        "test_bridge::test_garbage_from_before_does_not_matter",
    ]),
    9: ("NUbots/NUbots#17: ttyUSB0 comes back as ttyUSB1", [
        "test_bridge::test_the_port_may_come_and_go",
    ]),
    10: ("systemd/systemd#30574, Klipper3d/klipper#4975: adapters without serial numbers", [
        "test_trouble_unplugged::test_two_machines_that_changed_places_get_no_command",
        "test_discovery::test_two_adapters_of_one_name_are_told_with_their_paths",
    ]),
    11: ("bigbadoooff/thz#84: settings that hold a passing name", [
        "test_discovery::test_a_name_in_the_order_of_plugging_in_is_told_with_the_lasting_one",
    ]),
    12: ("juliagoda/CH341SER, florisla/folie#31: unplugging is noticed only when writing", [
        "test_trouble_unplugged::test_a_mute_machine_is_noticed_within_two_seconds",
        "test_link::test_silence_becomes_a_named_state",
    ]),
    13: ("zigpy/bellows#654, #357: never connects again", [
        "test_trouble_unplugged::test_fifty_times_out_and_in_with_one_bridge_leaks_nothing",
        "test_bridge::test_plugging_many_times_leaks_nothing",
    ]),
    14: ("zigpy/bellows#481, #483: fails in the middle of the start", [
        "test_trouble_unplugged::test_a_hang_up_at_any_point_of_the_start_is_recovered_from",
    ]),
    15: ("zigpy/bellows#147: a reset because of a missed heartbeat", [
        "test_trouble_on_the_line::test_a_mute_line_in_motion_holds_the_machine_and_resets_nothing",
        "test_bridge::test_a_dead_line_in_mid_motion_ends_in_a_choice",
    ]),
    16: ("pyserial/pyserial-asyncio#12, #28: closing fails, nobody is told", [
        "test_trouble_ports::test_a_hang_up_with_bytes_waiting_is_told_once",
    ]),
    17: ("home-assistant-libs/pyserial-asyncio-fast#16, #7: order and time of closing", [
        "test_trouble_ports::test_the_descriptor_is_closed_before_anybody_is_told",
    ]),
    18: ("pyserial/pyserial#163, wjwwood/serial#184: a write that never ends", [
        "test_trouble_ports::test_a_line_that_takes_no_bytes_is_lost_after_one_second",
        "test_transport::test_a_port_that_takes_no_bytes_is_lost_after_a_deadline",
    ]),
    19: ("PX4/PX4-Autopilot#11719: flushing hangs", [
        "test_transport::test_no_call_waits_for_unsent_bytes",
    ]),
    21: ("OctoPrint/OctoPrint#428: a long operation looks like a dead one", [
        "test_trouble_boards::test_an_operation_of_a_minute_neither_looks_dead_nor_floods_the_line",
    ]),
    22: ("OctoPrint/OctoPrint#4671, #5119, #1817: damaged replies, the wrong line sent again", [
        "test_trouble_on_the_line::test_no_single_flipped_bit_of_a_reply_is_believed",
        "test_trouble_on_the_line::test_a_border_flipped_behind_the_dice_costs_time_and_not_the_dice",
        "test_trouble_on_the_line::test_any_flipped_bit_of_an_acknowledgement_costs_time_and_nothing_else",
    ]),
    23: ("Klipper3d/klipper#1919, #2900, #3868: errors rise before a line dies", [
        "test_trouble_on_the_line::test_a_line_that_gets_worse_is_told_before_it_fails",
        "test_link::test_a_line_is_called_noisy_above_one_percent_and_calm_below_a_half",
    ]),
    24: ("Klipper3d/klipper#53, #729: a restart that hides itself", [
        "test_trouble_boards::test_a_board_that_resets_in_motion_waits_for_a_person_however_long",
        "test_bridge::test_a_board_that_resets_in_mid_deal_is_never_resumed",
        "avr/test_avr_faults::test_a_board_that_resets_in_mid_motion_moves_nothing_by_itself",
    ]),
    25: ("Klipper3d/klipper#1101, #2288, #5795: outputs stay on after the host is gone", [
        "test_device::test_motion_ends_exactly_with_its_lease",
        "test_bridge::test_a_motion_outlives_its_host_only_for_a_lease",
        "avr/test_avr_faults::test_a_killed_host_leaves_a_motor_on_only_for_the_lease",
    ]),
    26: ("gnea/grbl#1016, winder/Universal-G-Code-Sender#1367: motors disturb the line", [
        "test_trouble_on_the_line::test_a_burst_at_the_start_of_a_motion_leaves_one_motion_or_none",
    ]),
    27: ("cncjs/cncjs#746: it stops without an error", [
        "test_link::test_a_mute_line_in_motion_is_suspect_then_down_then_found_again",
        "test_trouble_unplugged::test_a_mute_machine_is_noticed_within_two_seconds",
    ]),
    28: ("ArduPilot/ardupilot#20677, arduino/arduino-ide#1788: other programs grab the adapter", [
        "test_discovery::test_modemmanager_is_told_unless_the_adapter_is_marked",
        "test_discovery::test_a_running_brltty_is_told",
        "test_discovery::test_the_shipped_rule_names_the_adapters_that_are_looked_for",
    ]),
    29: ("OctoPrint/octoprint-docker#7, mkuf/prind#64: no permission", [
        "test_trouble_ports::test_a_port_without_rights_is_denied_with_the_group_to_join",
        "test_transport::test_a_denied_port_names_the_group",
    ]),
    30: ("missionpinball/mpf#1040, pyserial/pyserial#287: 16 ms of an adapter", [
        "test_trouble_ports::test_low_latency_is_asked_for_and_its_lack_ignored",
        "test_link::test_the_timeout_never_leaves_its_bounds",
    ]),
    31: ("pymodbus-dev/pymodbus#2592, stephane/libmodbus#380: the line echoes", [
        "test_trouble_on_the_line::test_a_line_that_echoes_everything_changes_nothing",
        "test_trouble_on_the_line::test_a_line_that_echoes_halves_changes_nothing",
        "test_link::test_our_own_echo_answers_nothing",
        "test_device::test_its_own_echo_is_ignored",
    ]),
    32: ("pymodbus-dev/pymodbus#1729: what a retry is", [
        "test_modbus_press::test_lost_replies_make_one_pulse_and_an_unknown",
        "test_link::test_two_lost_replies_do_not_repeat_a_motion",
    ]),
    33: ("home-assistant/core#137685: it stops until restarted", [
        "test_trouble_boards::test_seven_days_with_an_accident_in_each_hour",
        "test_trouble_boards::test_seven_hours_with_an_accident_in_each",
    ]),
    34: ("jromang/picochess#218, #150: the player does not see why nothing happens", [
        "test_trouble_unplugged::test_every_state_of_the_line_is_a_code_of_its_own",
        "../station/web/test_pages::test_the_state_of_the_machine_s_line_always_stands_on_the_referee_s_screen",
        "../station/web/test_catalogue::test_everything_a_machine_can_answer_has_a_sentence",
        "../station/web/test_catalogue::test_no_sentence_lacks_a_translation",
    ]),
    35: ("arduino/Arduino#3617: a brown-out in mid-command", [
        "test_device::test_after_a_reset_the_running_one_was_interrupted",
        "test_exactly_once::test_a_reset_in_mid_motion_leaves_the_outcome_unknown",
        "avr/test_avr_memory::test_a_reset_at_any_moment_leaves_what_was_or_what_is",
    ]),
}  # fmt: skip

NO_TEST = {20: "flushing a pseudo-terminal hung in older kernels only; nothing here flushes (19)"}


def test_every_report_has_a_test_that_exists():
    assert set(REPORTS) | set(NO_TEST) == set(range(1, 36))
    assert not set(REPORTS) & set(NO_TEST)
    for number, (_, tests) in REPORTS.items():
        assert tests, number
        for test in tests:
            module, _, name = test.partition("::")
            assert name in functions(module), f"{number}: {test}"


@cache
def functions(module):
    """Names of the functions in a file of tests."""
    tree = ast.parse((Path(__file__).parent / f"{module}.py").read_text("utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
