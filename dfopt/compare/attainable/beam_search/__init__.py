"""Cheap schedules by beam searches over one section of a schedule after the other."""
