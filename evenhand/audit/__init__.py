"""The contract of an audit: what a domain is, and the general implementation of what follows from it."""

from evenhand.audit.build import build
from evenhand.audit.built import Built
from evenhand.audit.cases import Case
from evenhand.audit.domain import Domain
from evenhand.audit.forms import AnswerField, AnswerForm
from evenhand.audit.labels import Label, LabelValue
from evenhand.audit.outcomes import (
    KINDS,
    Amount,
    Class,
    Classes,
    OneClass,
    Ordinal,
    Outcome,
    Probability,
    Value,
    YesNo,
)
from evenhand.audit.prompts import BASE_ARM, Prompt
from evenhand.audit.read import Missing, Read, missing, outdated, read
from evenhand.audit.readings import MISSING, Reading
from evenhand.audit.registry import find, names
from evenhand.audit.specifications import specifications

__all__ = [
    "BASE_ARM",
    "KINDS",
    "MISSING",
    "Amount",
    "AnswerField",
    "AnswerForm",
    "Built",
    "Case",
    "Class",
    "Classes",
    "Domain",
    "Label",
    "LabelValue",
    "Missing",
    "OneClass",
    "Ordinal",
    "Outcome",
    "Probability",
    "Prompt",
    "Read",
    "Reading",
    "Value",
    "YesNo",
    "answers",
    "build",
    "cases",
    "data_sets",
    "find",
    "folder",
    "general",
    "missing",
    "names",
    "outcomes",
    "outdated",
    "predictions",
    "prompts",
    "protocol",
    "read",
    "registry",
    "show",
    "specifications",
    "stored",
    "study",
]
