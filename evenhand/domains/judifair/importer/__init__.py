"""The importer: published prediction files, in every layout they come in, become answers of a study.

`import_published(study, path)` finds the files, works out each one's model, temperature and label, and
stores what is not stored yet. Nothing is asked of any model.
"""

from evenhand.domains.judifair.importer.report import FileReport, ImportReport
from evenhand.domains.judifair.importer.run import COLLECTION, import_published

__all__ = ["COLLECTION", "FileReport", "ImportReport", "import_published"]
