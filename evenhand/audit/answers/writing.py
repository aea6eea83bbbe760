"""One way of writing: full-width, traditional and invisible characters brought to a common form.

Answers mix scripts: `刑罰類型：１８０`, zero-width spaces, special tokens of a chat template. Everything
that is *compared* goes through `plain`; what is *kept* (a charge) is the model's own text.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

# Traditional (and Japanese) characters of the words that verdicts are made of, each with its simplified form.
_SIMPLER = (
    "罰罚 類类 無无 緩缓 處处 個个 箇个 兩两 歲岁 執执 決决 終终 監监 獄狱 懲惩 單单 並并 數数 沒没 "
    "產产 財财 權权 奪夺 剝剥 盜盗 竊窃 殺杀 傷伤 騙骗 詐诈 搶抢 應应 該该 為为 爲为 實实 際际 "
    "總总 計计 萬万 億亿 圓圆 條条 請请 選选 擇择 構构 貳贰 參叁 陸陆 與与 們们 從从 輕轻 減减 "
    "據据 確确 認认 證证 關关 係系 讓让 說说 這这 裡里 樣样 僅仅 內内 體体 於于 長长 時时 間间 "
    "檢检 審审 訴诉 釋释 徵征 過过 給给 発发 処处 歳岁 貪贪 賄贿 運运 輸输 販贩 毀毁 險险 駕驾 "
    "駛驶 發发 補补 細细 節节 陳陈 換换 寫写 訊讯 況况 調调 進进 資资 額额 幣币 "
    "結结 論论 議议 見见 維维 經经 慮虑 對对 後后 統统 誤误 譯译 嚴严 貨货 車车 錢钱 開开 門门 問问 題题 "
    "電电 網网 業业 務务 員员 鑒鉴 鑑鉴 綜综 違违 規规 "
    "辯辩 護护 寬宽 較较 屬属 適适 當当 採采 納纳 則则 現现 將将 隨随 虛虚 親亲 還还 極极 聲声 準准 標标 "
    "點点 連连 續续 種种 別别 書书 張张 劉刘 趙赵 餘余 "
    "約约 幾几 達达 滿满 歷历 "
)
_TO_SIMPLIFIED = str.maketrans({pair[0]: pair[1] for pair in _SIMPLER.split()})

# Zero-width characters, direction marks, byte-order mark, soft hyphen, and Arabic vowel signs that some
# multilingual models scatter over Chinese text.
_INVISIBLE = re.compile("[\u00ad\u064b-\u0652\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_SPECIAL_TOKEN = re.compile(r"<[|｜][^<>|｜\n]{0,40}[|｜]>|</?s>|\[/?INST\]|<(?:bos|eos|pad|unk)>")
_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "‟": '"', "「": '"', "」": '"', "『": '"', "』": '"'})

_LONGEST = 200_000  # characters kept of an answer; verdicts stand near the beginning or the end


def visible(text: str) -> str:
    """The text without invisible characters and without special tokens of chat templates.

    Of a text beyond 200,000 characters the first and last 100,000 are kept.
    """
    if len(text) > _LONGEST:
        text = text[: _LONGEST // 2] + "\n" + text[-_LONGEST // 2 :]
    if not text.isascii():
        text = _INVISIBLE.sub("", text)
    if "<" in text or "[" in text:
        text = _SPECIAL_TOKEN.sub("\n", text)
    return text.replace("\xa0", " ").replace("\u3000", " ")


# NFKC makes 1\u20442 of a half, 362 of 36\u00b2 and 36 of a 36 in a circle: other numbers than were written.
_HALF = re.compile(r"(\d?)([\u00bc-\u00be])")
_QUARTERS = {"\u00bc": ".25", "\u00bd": ".5", "\u00be": ".75"}
_NO_DIGITS = re.compile(
    "[\u00b2\u00b3\u00b9\u2070\u2074-\u2079\u2080-\u2089\u2150-\u215f\u2189\u2460-\u249b\u24ea-\u24ff\u2776-\u2793\u3220-\u3229"
    "\u3248-\u325f\u3280-\u3289\u32b1-\u32bf]"
)
UNKNOWN_DIGIT = "\u00a4"
"""Stands for a sign that is no digit of a running number."""


def plain(text: str) -> str:
    """The text in simplified characters, half-width (NFKC) and lower case: for comparing, not for keeping.

    Underscores become spaces (fixed_term_imprisonment). Three and a half in one sign is 3.5; digits that
    are raised, lowered or in circles become a sign that no number holds.
    """
    if text.isascii():
        return text.lower().replace("_", " ")
    text = _HALF.sub(lambda m: (m[1] or "0") + _QUARTERS[m[2]], text)
    text = _NO_DIGITS.sub(UNKNOWN_DIGIT, text)
    return unicodedata.normalize("NFKC", text).translate(_TO_SIMPLIFIED).lower().replace("_", " ")


def ascii_punctuation(text: str) -> str:
    """The text with full-width and typographic punctuation as ASCII, Chinese characters as they are."""
    return unicodedata.normalize("NFKC", text).translate(_QUOTES)


_AROUND_CHINESE = re.compile(r"(?<=[^\x00-\x7f])\s+|\s+(?=[^\x00-\x7f])")


def tight(text: str) -> str:
    """`plain` without white space between Chinese characters, and with single spaces between others."""
    return _tight_of_value(text) if len(text) <= 64 else _tight(text)


def _tight(text: str) -> str:
    text = plain(text)
    if not text.isascii():
        text = _AROUND_CHINESE.sub("", text)
    return " ".join(text.split())


_tight_of_value = lru_cache(maxsize=8192)(_tight)  # the values of fields come again and again
