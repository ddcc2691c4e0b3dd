"""Rules of wildcard mahjong as pure values: tiles, claims, verdicts, settlements and wall arithmetic."""
