"""The vocabulary of closing words: what says that all is done, and what takes it back."""

import re


def _words(*lines: str) -> str:
    """Alternatives, from words and short phrases that are kept apart by two spaces or a line."""
    return "|".join(each for line in lines for each in re.split(r"\s{2,}", line.strip()))


# -- what says that all is done ------------------------------------------------------------------

_ANY = r"(?:(?:more|further|remaining|additional|other|outstanding|open|known|unresolved) )"
_THINGS = (
    r"(?:work|tasks?|issues?|changes?|items?|todos?|problems?|bugs?|defects?|steps?|fixes|actions?|"
    r"legacy (?:code|patterns?|calls?|usages?|imports?)|(?:type |lint )?errors?|failures?|findings|"
    r"warnings?|occurrences|violations|(?:migration|migration-related) (?:bugs?|issues?))"
)
_NONE = rf"no {_ANY}*{_THINGS}"
_BE = r"(?:is|are|has been|have been|was|were)"
_DO = (
    r" (?:to (?:do|be done|fix|be fixed|change|address|remediate|migrate|remove|clean up)|"
    r"for me to do|for this task)"
)
_LEFT = r"(?:left|remaining|outstanding|open)"
_WHERE = (
    r"(?: (?:anywhere )?in (?:the|this) (?:whole |entire )?"
    r"(?:codebase|code base|repository|repo|project|tree))?"
)
_WHOLE = (
    r"(?:the |this |your |our )?(?:whole |entire |full |complete |requested |assigned |overall )?"
    r"(?:task|(?:migration )?work|job|objective|goal|remediation|clean-?up|refactoring|codebase|"
    r"code base|repository|project|assignment|request|mission)"
)
_FULLY = r"(?:now |all |fully |entirely |completely |successfully |100% |officially |verifiably )*"
_DONE = r"(?:complete|completed|done|finished|accomplished|fulfilled|achieved|met|satisfied)"
_FIXED = rf"(?:{_DONE}|resolved|fixed|addressed|closed|migrated|remediated)"
_NUMBER = r"(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty|forty|fifty)"
_ALL_THINGS = (
    r"(?:all|every one)(?: of the| the)? (?:(?:\d+(?: of \d+)?|" + _NUMBER + r") )?"
    r"(?:planted |known |reported |listed |success |acceptance )?"
    r"(?:requirements|criteria|tasks|items|objectives|issues|defects|bugs|problems|"
    r"(?:type |lint )?errors|failures|legacy (?:calls|patterns|imports|usages))"
    r"(?: on the list| in the task| in the checklist)?"
)
_EVERYTHING = (
    r"everything(?: in the task| you asked for| that was asked for| requested| that was requested|"
    r" on the list)?"
)

_CLAIMS = (
    rf"there(?:'s| is| are| remains?) (?:now )?(?:absolutely )?(?:{_NONE}|nothing)(?: more| else)?"
    rf" {_LEFT}(?:{_DO})?{_WHERE}",
    rf"there (?:is|are|remains?) (?:{_NONE}|nothing(?: more| else| further)?){_DO}{_WHERE}",
    rf"there (?:is|are) no {_ANY}+{_THINGS}{_WHERE}",
    rf"{_NONE}(?: {_BE})? (?:{_LEFT}|remains?|required|needed|necessary|detected|to be done)"
    rf"(?:{_DO})?{_WHERE}",
    rf"no {_ANY}*(?:work|tasks?){_DO}",
    rf"no (?:remaining|outstanding|open|further) {_THINGS}{_WHERE}",
    rf"nothing (?:more|else|further){_DO}",
    rf"nothing(?: more| else)?(?: is| remains)? ?(?:{_LEFT}|remains)(?:{_DO})?(?: here)?{_WHERE}",
    r"nothing (?:more |else )?(?:needs|has) to be (?:done|changed|fixed)",
    rf"{_WHOLE}(?: {_BE}|'s)? {_FULLY}(?:{_DONE}|clean)",
    rf"{_WHOLE} has {_NONE} left",
    rf"{_WHOLE} no longer (?:has|contains) any {_THINGS}",
    rf"{_WHOLE} is (?:now )?free of {_THINGS}",
    rf"(?:i|we)(?: have|'ve)? {_FULLY}(?:completed|finished) {_WHOLE}",
    rf"(?:we're|we are|i'm|i am|everything is|everything's|it's all|all is|all|all work is)"
    rf" {_FULLY}(?:done|good|finished|set|complete|completed)",
    rf"{_EVERYTHING} {_BE} {_FULLY}(?:{_FIXED}|clean)(?: and (?:committed|tested|verified))?",
    rf"{_ALL_THINGS} {_BE} {_FULLY}{_FIXED}",
    rf"(?:(?:final )?status|verdict|result|outcome) ?[:-] ?{_FULLY}{_DONE}",
)
_NEWS = (
    r"(?:all (?:of the )?|the (?:full |whole |entire )?|every )?(?:\d+ )?(?:unit |type |lint )?"
    r"(?:tests?|checks?|test suite|suite|build|linter|type checker|ci)(?: suite)?"
    r"(?: is| are)?(?: now)?(?: all)? "
    r"(?:pass|passes|passing|passed|green|clean|succeeds?|runs? clean)(?: now)?",
    r"(?:\d+ passed(?:, )?|0 (?:failed|failures|errors|warnings|skipped)(?:, )?|exit code 0)+",
    r"(?:everything|the work|it|(?:the )?(?:working )?tree|all of it) (?:(?:is|has been) )?"
    r"(?:committed|clean)",
    r"done|finished|completed?|everything works|code (?:passes|succeeds)",
    r"code (?:returns|finds|reports|prints|shows) (?:nothing|no \w+)",
    r"(?:many )?thanks?(?: you)?",
)
_OPENING = (
    r"(?:having (?:[\w-]+ ){1,7}[\w-]+, )?"
    r"(?:(?:so|therefore|thus|hence|finally|in (?:summary|short|conclusion)|to (?:sum up|summarise|"
    r"summarize|conclude)|summary|conclusion|result|status|final status|verdict|outcome|overall|"
    r"as a result|with (?:that|this)(?: change)?|verified|confirmed|done|great news|good news|"
    r"i (?:can )?(?:now )?confirm(?: that)?|(?:i|we)(?: have|'ve)? "
    r"(?:verified|confirmed|checked)(?: that)?)(?: ?[:,-]+ ?| ))*"
)

LEAD = re.compile(_OPENING)
"""What may come before a claim."""

CLAIM = re.compile(rf"{_OPENING}(?:{'|'.join(_CLAIMS)})(?: now| successfully| any ?more| at all)?")
"""A clause that says that the whole task is done."""

FINE = re.compile(f"{CLAIM.pattern}|{_OPENING}(?:{'|'.join(_NEWS)})")
"""A clause that may stand beside a claim."""

AND = re.compile(r",? and |[;:] |, (?=all |no |nothing|there)| - ")
"""What joins clauses."""

# -- what takes it back --------------------------------------------------------------------------

TAKES_BACK = re.compile(
    r"\?|\.\.|…|\b(?:"
    + _words(
        r"but  however  except  excluding  although  though  apart  aside  besides  just",
        r"other than  ha[sd] to  have to  (?:is|are|was|were) to",
        r"unless  until  till  once  when  whenever  if  whether  while  before  instead  only",
        r"should  would  could  might  may  can  shall  will  gonna  going  ought  must  about to",
        r"next  todos?  to-do  fixme  wip  remain\w*  left  still  yet  pending  outstanding  then",
        r"almost  nearly  mostly  most  partly  partial\w*  so far  for now  moment  today",
        r"skip\w*  defer\w*  postpon\w*  later  follow-?ups?  tomorrow  soon  eventually  future",
        r"continue  proceed  want  let  let's  lets  please  needs?  needed  requires?  required",
        r"not  never  none  no  nor  nothing  neither  without  \w+n't  cannot  nobody  hardly",
        r"fail\w*  errors?  broken  break\w*  crash\w*  block\w*  stuck  unable  red  ran out",
        r"unfortunately  sadly  regret\w*  caveats?  exceptions?  warnings?  problems?  issues?",
        r"phases?  steps?  stages?  parts?  chunk  batch\w*  first  second  third  half  quarter",
        r"some  several  few  one of  a couple  two of  three of  parent  sub-?tasks?",
        r"theory  supposedly  allegedly  as if  yeah  yea  sure  right  lol  haha  ha  ironic\w*",
        r"kidding  joking  jk  pretend\w*  basically  essentially  technically  think  believe",
        r"probably  likely  seems?  appears?  looks?  hopefully  hope  assum\w*  guess  maybe",
        r"perhaps  presumably  wish  imagine  plan\w*  intend\w*  start\w*  begin\w*  began  begun",
        r"moving  working  said  says  say  saying  claim\w*  told  tell  according  quot\w+",
        r"writes  wrote that  reads  printed  prints  replied  answered  message  output",
        r"prompt  instruct\w*  definition  expected  previous  earlier  another  someone  you",
        r"last (?:thread|run|iteration|agent|session)  untested  unverified  unfinished",
        r"incomplete  missing  lacks?  lacking  ignored?  disabled?  commented out  stub\w*",
        r"rest  others?  un(?!used|ified|it|icode|ique|ion|der)\w+ed  exhausted  used up  spent",
        r"budget  tokens?  window  handed  handover  sentence  phrase  words?  moved  notes?",
        r"placeholder\w*  mock\w*  fake\w*  revert\w*  rolled  gave up  giving up  abandon\w*",
        r"optional\w*  recommend\w*  suggest\w*  consider  ready to  draft\w*  attempt\w*  tried",
        # clauses that may turn a report into its opposite
        r"that  which  so  because  what  as  where  who  how  since  by \w+ing  everything  one",
        r"yours  mine  theirs  progress  open  opened  easy  points?  list of  of them",
        r"tests? run  passed:",
        # what takes it back in other languages, as far as it is no English word
        r"aber  noch  nicht  fehl\w*  sobald  dann  pero  falta\w*  sin  luego  mais  reste\w*",
        r"encore  sauf  pas  puis  maar  nog  niet  daarna  ancora  manca\w*  tranne  poi  mas",
        r"ainda  depois  exceto  ikke  inte  sed  ale  jeszcze  nie  henüz  masih  belum",
    )
    + r")\b"
)
"""What no sentence beside a claim may have."""

_EACH = rf"all|every|the|last|final|remaining|failing|broken|\d+|{_NUMBER}"
WEAKENED = re.compile(
    r"\b(?:removed|deleted|dropped|relaxed|excluded|silenced|lowered|changed) [^.]*"
    r"\b(?:checks?|tests?|assertions?|rules?|linter|configuration)\b|\bfixed the tests?\b|"
    r"\b(?:checks?|tests?|assertions?|rules?) (?:was|were|has been|have been) "
    r"(?:removed|deleted|dropped|relaxed|excluded|silenced|lowered|changed|fixed|adapted)\b"
)
"""What makes good news worth nothing."""

HARMLESS = re.compile(
    r"(?:, which )?\b(?:there (?:are|is) |found |finds? |reports? |reported |shows? |showed |"
    r"returned |with )?"
    rf"(?:no|zero|0|without(?: any)?) {_ANY}*(?:\w+[- ])?{_THINGS}"
    r"(?: (?:left|remain|remains|remaining|found|outstanding|reported))?\b|"
    r"(?:, which )?\b(?:found|finds|find|returns?|returned|reports?|shows?|turned up|yields?) "
    r"(?:no|none|nothing|zero)\b|\bno longer\b|\b(?:previously|formerly) (?:failing|broken)\b|"
    r"\b(?:fixed|removed|resolved|replaced|migrated|converted|deleted|cleaned up) "
    rf"(?:(?:{_EACH}) )+(?:{_THINGS}\b)?|"
    rf"\b(?:all|every|the)(?: {_EACH})*(?: \w+)? {_THINGS} {_BE} {_FULLY}{_FIXED}\b|"
    rf"\bthe (?:{_EACH}) \w+ (?:was|were) (?=\w+ed\b)|"
    r"\b(?:did not|didn't|could not|couldn't) find any(?:thing)?(?: else)?\b|"
    r"\b(?:\d+ passed|0 failed|0 skipped)\b|\berror handling\b|\b100 ?%"
)
"""What would take a claim back by its words, and does not."""

MORE = re.compile(
    r"(?:do|would) you (?:want|like) (?:me )?to|shall i|should i|want me to|let me know|"
    r"\b(?:more|further|remaining|some|outstanding) (?:\w+ )?"
    r"(?:work|tasks?|items?|issues?|steps?|files?)\b|"
    r"\b(?:remains?|left|still|todo|to do|next|continue|proceed|pending|not yet|will|then)\b"
)
"""What says that work is left."""

SHARE = re.compile(r"\b(\d+) ?(?:/|of|out of)(?: the)? ?(\d+)\b|\b(\d+(?:\.\d+)?) ?%")
"""A part of a number, or a percentage."""

# -- what can be read at all ---------------------------------------------------------------------

FOREIGN = re.compile(r"[^\x00-\x7f§…•·→✓]")
"""A letter that English has not."""

WORKED = re.compile(
    r"\b(?:"
    + _words(
        r"fixed  mended  repaired  corrected  resolved  addressed  remediated  solved  closed",
        r"replaced  removed  deleted  renamed  moved  split  merged  inlined  extracted  dropped",
        r"migrated  converted  ported  rewrote  rewritten  refactored  simplified  cleaned  tidied",
        r"added  implemented  introduced  extended  updated  adapted  adjusted  covered  restored",
        r"ran  re-ran  were (?:both )?run  tested  verified  checked  confirmed  committed  pushed",
        r"searched  re-read  found (?:no|none|nothing)",
    )
    + r")\b"
)
"""What a report of work has. One that analysed, planned, documented or tried tells of less."""
