"""Instances from the text formats of other tools; a file for each format."""

from dfopt.files.imported.reading import FORMATS, ImportedFormat, import_instance, stem

__all__ = ["FORMATS", "ImportedFormat", "import_instance", "stem"]
