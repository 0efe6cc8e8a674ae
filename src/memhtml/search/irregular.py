"""English words whose forms no stemmer brings together: who asks about feeding means "fed" too.

Each line is one word in its forms, the plain one first. Forms that are also other words ("left",
"saw", "found", "bore", "wound", "ground", "lay") stand here only where the other word is the rarer.
"""

from __future__ import annotations

__all__ = ["other_forms", "plain_form"]

_FAMILIES = """
arise arose arisen|awake awoke awoken|beat beaten|become became|begin began begun|bend bent
bind bound|bite bit bitten|bleed bled|blow blew blown|break broke broken|breed bred
bring brought|build built|burn burnt|buy bought|catch caught|choose chose chosen|cling clung
come came|creep crept|deal dealt|dig dug|draw drew drawn|dream dreamt|drink drank drunk
drive drove driven|eat ate eaten|fall fell fallen|feed fed|feel felt|fight fought|find found
flee fled|fly flew flown|forbid forbade forbidden|forget forgot forgotten|forgive forgave forgiven
freeze froze frozen|get got gotten|give gave given|go went gone|grow grew grown|hang hung
hear heard|hide hid hidden|hold held|keep kept|kneel knelt|know knew known|lead led|lean leant
leap leapt|learn learnt|leave left|lend lent|light lit|lose lost|make made|mean meant|meet met
mistake mistook mistaken|overcome overcame|override overrode overridden|pay paid|prove proven
rebuild rebuilt|ride rode ridden|ring rang rung|rise rose risen|run ran|say said|see saw seen
seek sought|sell sold|send sent|sew sewn|shake shook shaken|shine shone|shoot shot|show shown
shrink shrank shrunk|sing sang sung|sink sank sunk|sit sat|sleep slept|slide slid|sow sown
speak spoke spoken|speed sped|spell spelt|spend spent|spill spilt|spin spun|spoil spoilt
spring sprang sprung|stand stood|steal stole stolen|stick stuck|sting stung|strike struck stricken
string strung|strive strove striven|swear swore sworn|sweep swept|swell swollen|swim swam swum
swing swung|take took taken|teach taught|tear tore torn|tell told|think thought|throw threw thrown
understand understood|undertake undertook undertaken|undo undid undone|wake woke woken
wear wore worn|weave wove woven|weep wept|win won|withdraw withdrew withdrawn|write wrote written
child children|person people|man men|woman women|foot feet|tooth teeth|goose geese|mouse mice
ox oxen|knife knives|wife wives|life lives|leaf leaves|shelf shelves|half halves|loaf loaves
thief thieves|wolf wolves|calf calves|analysis analyses|crisis crises|thesis theses
index indices|matrix matrices|vertex vertices|criterion criteria|phenomenon phenomena
datum data|medium media|good better best|bad worse worst|far further
"""

_FORMS: dict[str, tuple[str, ...]] = {}
for _family in _FAMILIES.replace("\n", "|").split("|"):
    _words = tuple(_family.split())
    for _word in _words:
        _FORMS.setdefault(_word, _words)


def other_forms(word: str) -> tuple[str, ...]:
    """Return the forms of *word*, lower case, that share no stem with it.

    >>> other_forms("feeding"), other_forms("fed"), other_forms("oven")
    (('fed',), ('feed',), ())
    >>> other_forms("writing"), other_forms("running")
    (('wrote', 'written'), ('ran',))
    """
    base = next((form for form in _plain_forms(word) if form in _FORMS), None)
    return tuple(form for form in _FORMS.get(base or "", ()) if form not in {base, word})


def plain_form(word: str) -> str:
    """Return the plain form of *word*, lower case, where it is irregular; else *word* as it is.

    >>> plain_form("wrote"), plain_form("writing"), plain_form("oven")
    ('write', 'write', 'oven')
    """
    base = next((form for form in _plain_forms(word) if form in _FORMS), None)
    return word if base is None else _FORMS[base][0]


def _plain_forms(word: str) -> tuple[str, ...]:
    """Return what *word* may be an ending of, itself first."""
    if word.endswith("ing"):
        bare = word[:-3]
        doubled = (bare[:-1],) if bare[-1:] == bare[-2:-1] else ()
        return (word, bare, f"{bare}e", *doubled)
    if word.endswith("s"):
        return (word, word[:-1], word.removesuffix("es"))
    return (word,)
