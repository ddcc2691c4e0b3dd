"""Teaching a table's geometry: markers or taps in, a calibration file out, and the alarm when the camera moved."""
