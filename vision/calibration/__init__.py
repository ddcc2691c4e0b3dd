"""Teaching a table its geometry: markers or taps in, a calibration file out; and the drift alarm."""
