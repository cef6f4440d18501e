"""English: the questions that kb answers itself, the words of everyday life, and what kb says to such questions. Tables only.

The patterns are compared with a whole question, tidy and without its frame ("can you tell me …, please"): a question that
says more than they do is a question about documents.
"""

from __future__ import annotations

from collections.abc import Mapping

from kb.language.interface import PatternKind, WordKind

_ATTRIBUTE = (
    r"(?:(?:full |first |last |middle |family |given |user ?)?name|surname|nickname|age|birthday|birth ?date|date of birth"
    r"|e-?mail(?: address)?|(?:(?:cell|tele|mobile) ?)?phone(?: number)?|mobile(?: number)?|(?:home |postal )?address"
    r"|job(?: title)?|occupation|profession|favou?rite [a-z]+(?: [a-z]+)?)"
)
_KB = r"(?:kb|you|this (?:tool|program|app|assistant|command))"
_NOW = r"(?: is it)?(?: today| now| right now| currently)*"
_DATE = r"(?:date|day|day of (?:the )?(?:week|month)|week ?day|month|year)"
_ITEMS = r"(?:tasks?|to-?dos?|to-?do items?|action items?|checklist items?|list items?|items|things to do)"
_OPEN = r"(?:open|left(?: to (?:do|finish))?|pending|unfinished|outstanding|remaining|incomplete|undone|unchecked|not (?:yet )?done|to be done|to do)"
_OURS = r"(?:my |our |the |all )*"
_BEFORE = r"(?: you| kb)?(?: about)?(?: just now| before| earlier| so far| already| previously| last(?: time)?| first| today)*"

# One of these stands in every question that the pattern of the same name matches: compiling the pattern takes longer than looking.
OWN_SIGNS: dict[WordKind, frozenset[str]] = {
    "own_user": frozenset(("my", "am i", "i am", "i'm", "call me", "born", "i live", "i work", "a living", "about me", "tell you", "told you")),
    "own_date": frozenset(("date", "day", "month", "year")),
    "own_time": frozenset(("time",)),
    "own_abilities": frozenset(("kb", "you", "this tool", "this program", "this app", "this assistant", "this command")),
    "own_tools": frozenset(("tools",)),
    "own_earlier": frozenset(("ask", "question", "did we", "have we")),
    "own_tasks": frozenset(("task", "to-do", "todo", "to do", "items", "things to", "list", "open", "left", "still", "remain", "unfinished", "pending", "outstanding", "done", "must i", "must we", "undone", "incomplete")),
}  # fmt: skip

OWN_PATTERNS: dict[PatternKind, str] = {
    "own_frame": (
        r"^(?:(?:(?:hey|hi|hello|ok|okay|so|and|but|well|now|please|sorry|by the way|btw)\b[\s,!.:]*)|kb[,:!]\s*"
        r"|(?:can|could|would|will) you (?:please )?(?:tell|show|give|remind) me(?: please)?[\s,:]+|(?:please )?(?:tell|remind|give) me[\s,:]+"
        r"|do you (?:still )?(?:know|remember)[\s,:]+|i(?:'d| would) like to know[\s,:]+|i forgot[\s,:]+)+"
    ),
    "own_tail": r"(?:[\s,?!.…]+(?:please|again|exactly|actually|then|anyway|do you (?:still )?(?:know|remember)(?: it| that)?|thanks))+$",
    "own_user": (
        rf"(?:what(?:'?s| is| was| are)?|when(?:'s| is| was)?|where(?:'s| is)?|who(?:'s| is)?) my (?:own )?{_ATTRIBUTE}(?: is| was)?|(?:what )?my {_ATTRIBUTE}(?: is)?"
        r"|who (?:am i|i am)|what (?:am i|i am|i'm) called|what (?:do|should|can|will) you call me|how old (?:am i|i am)|when was i born"
        r"|where (?:do|am) i (?:live|work)|what do i do for a living|what do you know about me"
        r"|what (?:have i told|did i tell) you(?: so far)?(?: about (?:me|myself))?"
    ),
    "of_user": (
        r"(?:\bmy|\b(?:the )?user(?:'s|’s)?)(?: (?:own|full|first|last|given|family|home|work|personal|private|mobile|cell|new|current|own))? $"
        r"|\bi(?:'m| am| was|)(?: \d+ years?| [a-z]+ly| now)? $"
    ),
    "own_date": (
        rf"what(?:'s| is) (?:the |today's |the current |current )?{_DATE}{_NOW}|(?:what|which) {_DATE} (?:is it|is today|do we have|it is|are we in)(?: today| now| right now)*"
        rf"|what is today|(?:the |today's |the current |current )+{_DATE}|what day of the (?:week|month) is (?:it|today)(?: today| now)?"
    ),
    "own_time": (
        r"what time (?:is it|it is|do we have)(?: now| right now| currently)*|what(?:'s| is) the (?:current |exact )?time(?: now| right now| currently)*"
        r"|(?:the )?current time|the time"
    ),
    "own_abilities": (
        rf"what (?:else )?(?:can|could) {_KB} do(?: for me)?(?: now)?|what {_KB} can do|what (?:do|does) {_KB} do|what (?:are|is) (?:you|this tool) able to do"
        r"|(?:who|what) are you|how (?:do|can|should) i use (?:kb|you|this tool)|how does kb work|what (?:can|could) i (?:do with|ask) (?:kb|you|this tool)"
        r"|what are (?:kb's|your) (?:commands|features|functions|abilities|capabilities|skills|options)"
        r"|(?:what|which) (?:commands|features|functions|abilities|capabilities|skills) (?:do|does) (?:kb|you) (?:have|know|offer|support)|what can i use (?:kb|you) for"
    ),
    "own_tools": r"(?:what|which) tools (?:do|does|can) (?:kb|you) (?:have|use|call|offer)|what are (?:kb's|your) tools|(?:what|which) tools are available(?: to (?:kb|you))?",
    "own_earlier": (
        rf"what (?:did|have|had) i (?:just |already |last )*ask(?:ed)?{_BEFORE}|what i (?:just |already |last )*asked{_BEFORE}"
        rf"|(?:what|which) questions (?:did|have) i (?:just |already )*ask(?:ed)?{_BEFORE}"
        r"|what (?:was|were) (?:my|the) (?:last|previous|first|earlier|latest|recent)(?: \d+| two| three)? questions?(?: i asked)?|my (?:last|previous) questions?"
        r"|what (?:did|have) we (?:just |already )*(?:talk(?:ed)?|sp(?:eak|oken)|discuss(?:ed)?)(?: about)?(?: just now| before| earlier| so far| last time| today)*"
    ),
    "own_all": r"\babout me\b|\b(?:told|tell) you\b",
    "own_last": r"\b(?:last|previous|just|latest)\b(?!.*\bquestions\b)",
    "own_tasks": (
        rf"(?:what|which)(?: of (?:the|my|our))? (?:(?:open|pending) )?{_ITEMS} (?:are|is|remain|have i|do i have|do we have)(?: still| yet)*(?: {_OPEN})?(?: yet| still)?"
        rf"|what(?:'s| is| are) (?:still )?{_OURS}{_OPEN}(?: {_ITEMS})?|what(?:'s| is| are) (?:still |left )*on {_OURS}(?:to-?do|task|check) ?list"
        rf"|what(?:'s| is| are) (?:my|our) (?:{_OPEN} )?(?:{_ITEMS}|to-?do list)"
        r"|what (?:do|must) (?:i|we) (?:still |yet )*(?:have (?:left )?to|need to)? ?(?:do|finish)|what (?:else )?(?:remains|is left|is still left|needs) to (?:do|be done)"
        rf"|(?:list|show)(?: me)? {_OURS}(?:{_OPEN} )(?:{_ITEMS})|(?:list|show)(?: me)? (?:my|our) (?:{_ITEMS}|to-?do list)"
        rf"|how many (?:{_OPEN} )?{_ITEMS} (?:are (?:there|{_OPEN}|still {_OPEN})|do (?:i|we) (?:still )?have(?: left)?|remain)|(?:are there|do i have|do we have) (?:any |still )*{_OPEN} {_ITEMS}(?: left)?"
    ),
}

# What many notes name, by a key that all languages share; the first word is the one that kb says.
EVERYDAY: dict[str, str] = {
    "name": "name called surname", "age": "age old", "birthday": "birthday birthdate birth born", "email": "email e-mail mail",
    "phone": "phone telephone mobile", "address": "address", "job": "job occupation profession work living", "home": "home live lives",
    "wifi": "wifi wi-fi wlan", "password": "password passcode", "code": "code pin", "number": "number", "office": "office",
    "house": "house", "door": "door", "key": "key keys", "locker": "locker", "server": "server", "network": "network",
    "account": "account", "meeting": "meeting", "car": "car", "school": "school", "hospital": "hospital", "doctor": "doctor",
    "dentist": "dentist", "bank": "bank", "appointment": "appointment", "holiday": "holiday vacation", "flight": "flight",
    "passport": "passport", "boss": "boss manager", "team": "team", "wife": "wife", "husband": "husband", "mother": "mother mom",
    "father": "father dad", "daughter": "daughter", "son": "son", "sister": "sister", "brother": "brother", "friend": "friend",
    "dog": "dog", "cat": "cat", "favourite": "favourite favorite like likes", "colour": "colour color", "food": "food",
    "music": "music", "book": "book", "coffee": "coffee", "tea": "tea", "allergy": "allergy allergic", "blood": "blood",
    "room": "room", "kitchen": "kitchen", "printer": "printer", "project": "project", "deadline": "deadline",
    "anniversary": "anniversary", "nickname": "nickname",
}  # fmt: skip

# What kb says to the questions above, and from whom it knows; {…} are filled in.
OWN_REPLIES: Mapping[str, str] = {
    "date_format": "Today is {day}, {date}.",
    "time_format": "It is {time} on {day}, {date}.",
    "days": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
    "fact": "You told me on {date} (fact {id}): {text}",
    "profile_name": "Your name is {name}, as your profile says.",
    "profile_traits": "Your profile says about you: {text}",
    "said_here": "In this session you said: {text}",
    "not_told": (
        "I have not been told {what}. kb does not look for it in documents: they may be about someone else.\n"
        'To tell me: kb remember "…", or [profile] in config.toml; to look into the documents: kb search "…"'
    ),
    "not_told_you": "anything about you",
    "not_told_what": "your {}",
    "corpus": "The knowledge base holds {count} documents (revision {revision})",
    "newest": "; the newest:",
    "turn": "You asked this on {date} in this session; the answer was, from documents of that day ({trace}): {text}",
    "episode": "You asked this on {date}; the answer was, from documents of that day ({trace}): {text}",
    "last_question": "Your last question here was: {text}",
    "questions_here": "You asked in this session, the newest first:\n{lines}",
    "questions": "Your latest questions, the newest first:\n{lines}",
    "no_questions": "Nothing yet: this is the first question that I know of.",
    "errand": "Asking changes nothing. What does it is a command:\n{calls}",
    "abilities": "What kb can do, each by its command:\n{calls}",
    "no_tools": "kb has no tools that a model could call. ",
    "open_items": "Open items in the documents: {count}\n{lines}",
    "from_nodes_below": "\n\n(Not all of this is in your documents. It comes from {nodes}.)",
    "from_nodes": "◌ from {nodes}, not from your documents",
    "from_nodes_uncited": "◌ from {nodes}, with no citation",
    # Context nodes, as users know them.
    "node_facts": "what you told kb",
    "node_working_memory": "this conversation",
    "node_episodic_memory": "earlier answers",
    "node_world_state": "what kb knows of itself and the date",
    "node_active_lists": "your open tasks",
    "node_gists": "summaries of your documents",
    "node_user_traits": "your profile",
    "node_available_skills": "the list of kb's commands",
    "more_items": "and {count} more",
}
