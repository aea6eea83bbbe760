"""The answer parser: from a model's raw text to a verdict. It reads what a careful reader reads, and never
guesses.

>>> from evenhand.domains.judifair.answers import read_answer >>> verdict =
read_answer('{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"有期徒刑","刑期":"三年六个月"}') >>>
verdict.penalty, verdict.months, verdict.read_as ('fixed_term', 42.0, 'exact')
"""

from evenhand.domains.judifair.answers.read import read_answer, read_object
from evenhand.domains.judifair.answers.verdict import Penalty, ReadAs, Verdict

__all__ = ["Penalty", "ReadAs", "Verdict", "read_answer", "read_object"]
