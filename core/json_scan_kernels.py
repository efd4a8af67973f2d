"""Records read from the bytes of JSON straight into columns: the twin of a decoder and `records.encode_records`.

Only what records usually hold is read: objects, or columns, of numbers, text, truth values and nulls, under names that
the model knows. At anything else a kernel gives up, and what it has written means nothing. The body is UTF-8, and ends
with bytes that JSON does not have, as many as are looked at together. Places in it are addresses; so is most of what
`json_scan.Spelled` and `Found` hold.
"""

from numba import float64, int64, uint64

from core.compiled_kernels import byte_at, compiled, lowest_bit, set_byte, set_number, set_whole, whole_at
from core.decimal_kernels import EXACT, LEFT_TO_PYTHON, MINUS, ZERO, is_digit, read_decimal

KNOWN, UNSEEN = 0, 2  # states; all begin as missing
NAMES = 0  # the vocabulary of attributes' names; that of an attribute's categories is its number and 1
START, VOCABULARY, CODE, LINE = 0, 8, 16, 24  # where things stand in a line of words, and how long a line is
NUMBERS, TEXT, WHOLE_NUMBERS, TRUTH_VALUES = 1, 2, 4, 8  # what an attribute takes; nothing where it is not used
GAVE_UP = uint64(0)
ONE, WORD = uint64(1), uint64(8)

QUOTE, BACKSLASH, COMMA, COLON = b'"\\,:'
A, E, F, L, N, R, S, T, U = b"aeflnrstu"
OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST = b"{}[]"
BLANK, TAB, NEW_LINE, RETURN = b" \t\n\r"
MOST_WHOLE_DIGITS = 15  # of a number whose text is that of a category, whatever reads it

EVERY_BYTE, HIGHEST_BITS = uint64(0x0101_0101_0101_0101), uint64(0x8080_8080_8080_8080)
HASH_BEGIN, HASH_FACTOR = 14_695_981_039_346_656_037, 1_099_511_628_211  # those of FNV-1a


@compiled
def after_blanks(at):
    """The first place from here on where no blank stands."""
    while byte_at(at) <= BLANK and (
        byte_at(at) == BLANK or byte_at(at) == NEW_LINE or byte_at(at) == RETURN or byte_at(at) == TAB
    ):
        at += ONE
    return at


@compiled
def marks(word, byte):
    """The highest bit of the lowest byte in a word that is this one; what stands above it means nothing."""
    other = word ^ (uint64(byte) * EVERY_BYTE)
    return (other - EVERY_BYTE) & ~other


@compiled
def before_special(at):
    """The first place from here on where a quote, a backslash or a control character stands; eight are seen at once."""
    while True:
        word = uint64(whole_at(at))
        found = marks(word, QUOTE) | marks(word, BACKSLASH) | ((word - uint64(BLANK) * EVERY_BYTE) & ~word)
        found &= HIGHEST_BITS
        if found != uint64(0):
            return at + uint64(lowest_bit(found) >> 3)
        at += WORD


@compiled
def string_end(at):
    """Where the quote stands behind a string whose first character is here, or GAVE_UP; and whether it has escapes."""
    has_escapes = False
    while True:
        at = before_special(at)
        if byte_at(at) == QUOTE:
            return at, has_escapes
        if byte_at(at) != BACKSLASH or byte_at(at + ONE) < BLANK:
            return GAVE_UP, has_escapes
        has_escapes = True
        at += uint64(2)


@compiled
def stand_here(at, one, two, three, four):
    """Whether these four characters stand here."""
    return (
        byte_at(at) == one
        and byte_at(at + uint64(1)) == two
        and byte_at(at + uint64(2)) == three
        and byte_at(at + uint64(3)) == four
    )


@compiled
def literal_end(at):
    """Where `null`, `true` or `false` ends, whichever begins here; GAVE_UP when none does."""
    if stand_here(at, N, U, L, L) or stand_here(at, T, R, U, E):
        return at + uint64(4)
    if stand_here(at, F, A, L, S) and byte_at(at + uint64(4)) == E:
        return at + uint64(5)
    return GAVE_UP


@compiled
def hash_of(start, end, vocabulary):
    """A number for the text from `start` to `end` as a word of a vocabulary."""
    found = uint64(HASH_BEGIN) ^ uint64(vocabulary)
    while start + WORD <= end:
        found = (found ^ uint64(whole_at(start))) * uint64(HASH_FACTOR)
        found ^= found >> uint64(32)
        start += WORD
    while start < end:
        found = (found ^ uint64(byte_at(start))) * uint64(HASH_FACTOR)
        start += ONE
    return found ^ (found >> uint64(32))


@compiled
def in_line(spelled, word, place):
    """What stands at a place in the line of a word; the next line's START is the end of its text."""
    return whole_at(spelled.words + uint64(word) * uint64(LINE) + uint64(place))


@compiled
def is_word(spelled, word, start, end):
    """Whether a word is the text from `start` to `end`."""
    text = spelled.text + uint64(in_line(spelled, word, START))
    if uint64(in_line(spelled, word, LINE + START)) + spelled.text - text != end - start:
        return False
    while start + WORD <= end:
        if whole_at(text) != whole_at(start):
            return False
        text += WORD
        start += WORD
    while start < end:
        if byte_at(text) != byte_at(start):
            return False
        text += ONE
        start += ONE
    return True


@compiled
def word_of(spelled, vocabulary, start, end):
    """The word of a vocabulary that is the text from `start` to `end`; -1 when there is none."""
    slot = hash_of(start, end, vocabulary) & spelled.last_slot
    while True:
        word = whole_at(spelled.slots + slot * WORD)
        if word < 0 or (in_line(spelled, word, VOCABULARY) == vocabulary and is_word(spelled, word, start, end)):
            return word
        slot = (slot + ONE) & spelled.last_slot


@compiled
def fill_slots(spelled, n_words):
    """Put every word into a slot; there are more slots than words, all empty."""
    for word in range(n_words):
        start = spelled.text + uint64(in_line(spelled, word, START))
        end = spelled.text + uint64(in_line(spelled, word, LINE + START))
        slot = hash_of(start, end, in_line(spelled, word, VOCABULARY)) & spelled.last_slot
        while whole_at(spelled.slots + slot * WORD) >= 0:
            slot = (slot + ONE) & spelled.last_slot
        set_whole(spelled.slots + slot * WORD, word)


@compiled
def taken_by(spelled, attribute):
    """What an attribute's values may be."""
    return byte_at(spelled.takes + uint64(attribute))


@compiled
def keep(found, attribute, row, number):
    """Write down a value that is known."""
    set_number(found.cells + (uint64(attribute) * found.n_rows + uint64(row)) * WORD, number)
    set_state(found, attribute, row, KNOWN)


@compiled
def set_state(found, attribute, row, state):
    """Write down what is known of a value."""
    set_byte(found.states + uint64(row) * found.n_attributes + uint64(attribute), state)


@compiled
def keep_word(spelled, found, attribute, row, start, end):
    """Write down a category, or that it was never seen; whether it was."""
    word = word_of(spelled, attribute + 1, start, end)
    if word < 0:
        set_state(found, attribute, row, UNSEEN)
        return False
    keep(found, attribute, row, float64(in_line(spelled, word, CODE)))
    return True


@compiled
def read_string(spelled, found, attribute, row, at):
    """Read the text that begins here, behind a quote: where what follows it stands, or GAVE_UP."""
    end, has_escapes = string_end(at)
    takes = taken_by(spelled, attribute)
    if end == GAVE_UP or takes & NUMBERS:
        return GAVE_UP
    if takes == 0:  # not used; but escapes may hide what is refused
        return GAVE_UP if has_escapes else end + ONE
    is_known = keep_word(spelled, found, attribute, row, at, end)
    # A category with escapes may be spelled in yet another way.
    return end + ONE if is_known or not has_escapes else GAVE_UP


@compiled
def read_number(spelled, found, attribute, row, at):
    """Read the number that begins here: where what follows it stands, or GAVE_UP."""
    end, value, settled, is_whole = read_decimal(at)
    takes = taken_by(spelled, attribute)
    if takes & TEXT:
        is_plain = is_whole and settled == EXACT and end - at <= uint64(MOST_WHOLE_DIGITS)
        if not (is_plain and takes & WHOLE_NUMBERS) or (byte_at(at) == MINUS and byte_at(at + ONE) == ZERO):
            return GAVE_UP
        keep_word(spelled, found, attribute, row, at, end)
        return end
    if settled == EXACT:
        if takes & NUMBERS:
            keep(found, attribute, row, value)
        return end
    return end if settled == LEFT_TO_PYTHON and takes & NUMBERS and leave(found, attribute, row, at, end) else GAVE_UP


@compiled
def leave(found, attribute, row, at, end):
    """Leave a number to Python, if there is room for one more; whether there was."""
    n_left = uint64(whole_at(found.left)) + ONE
    if n_left > found.most_left:
        return False
    line = found.left + n_left * uint64(4) * WORD
    set_whole(line, row)
    set_whole(line + WORD, attribute)
    set_whole(line + WORD + WORD, at)
    set_whole(line + WORD + WORD + WORD, end)
    set_whole(found.left, n_left)
    return True


@compiled
def read_value(spelled, found, attribute, row, at):
    """Read the value that begins here for an attribute of a row: where what follows it stands, or GAVE_UP."""
    first = byte_at(at)
    if first == QUOTE:
        return read_string(spelled, found, attribute, row, at + ONE)
    if first == MINUS or is_digit(first):
        return read_number(spelled, found, attribute, row, at)
    end, takes = literal_end(at), taken_by(spelled, attribute)
    if end == GAVE_UP or first == N or takes == 0:
        return end
    if not takes & TRUTH_VALUES:
        return GAVE_UP
    keep_word(spelled, found, attribute, row, at, end)
    return end


@compiled
def read_name(spelled, guess, at):
    """The word that begins here, behind a quote, and names an attribute; and where what follows its colon stands.

    GAVE_UP when there is none. Records mostly have their names in one order, so a guess is mostly right.
    """
    word, end = guess, at + uint64(in_line(spelled, guess, LINE + START) - in_line(spelled, guess, START))
    if not (is_word(spelled, guess, at, end) and byte_at(end) == QUOTE):
        end, _ = string_end(at)
        word = int64(-1) if end == GAVE_UP else word_of(spelled, NAMES, at, end)
    if word < 0:
        return word, GAVE_UP
    at = after_blanks(end + ONE)
    return (word, after_blanks(at + ONE)) if byte_at(at) == COLON else (word, GAVE_UP)


@compiled
def next_name(spelled, found, place, row, at):
    """The attribute whose name begins here, the next in a record or among columns; and where its value stands.

    GAVE_UP when there is none, or when it stood there before.
    """
    order = found.order + uint64(place) * WORD
    word, at = read_name(spelled, whole_at(order), at + ONE) if byte_at(at) == QUOTE else (int64(-1), GAVE_UP)
    if at == GAVE_UP:
        return word, GAVE_UP
    attribute = in_line(spelled, word, CODE)
    seen = found.seen + uint64(attribute) * WORD
    if whole_at(seen) == row:
        return attribute, GAVE_UP
    set_whole(order, word)
    set_whole(seen, row)
    return attribute, at


@compiled
def next_entry(at, close):
    """Behind an entry: where the next begins, or what follows its list or object, and whether that; or GAVE_UP."""
    at = after_blanks(at)
    if byte_at(at) == close:
        return at + ONE, True
    return (after_blanks(at + ONE) if byte_at(at) == COMMA else GAVE_UP), False


@compiled
def read_record(spelled, found, row, at):
    """Read the object that begins here as a row: where what follows it stands, or GAVE_UP."""
    if byte_at(at) != OPEN_OBJECT:
        return GAVE_UP
    at = after_blanks(at + ONE)
    if byte_at(at) == CLOSE_OBJECT:
        return at + ONE
    for place in range(found.n_names):
        attribute, at = next_name(spelled, found, place, row, at)
        if at == GAVE_UP:
            return GAVE_UP
        at = read_value(spelled, found, attribute, row, at)
        if at == GAVE_UP:
            return GAVE_UP
        at, is_end = next_entry(at, CLOSE_OBJECT)
        if is_end or at == GAVE_UP:
            return at
    return GAVE_UP


@compiled
def scan_records(spelled, found, at):
    """Read the list of records that begins here: where what follows it stands, or GAVE_UP; and how many they are."""
    at = after_blanks(at + ONE)
    if byte_at(at) == CLOSE_LIST:
        return at + ONE, 0
    for row in range(int64(found.n_rows)):
        at = read_record(spelled, found, row, at)
        if at == GAVE_UP:
            return at, 0
        at, is_end = next_entry(at, CLOSE_LIST)
        if is_end or at == GAVE_UP:
            return at, row + 1
    return GAVE_UP, 0


@compiled
def read_column(spelled, found, attribute, at):
    """Read the list that begins here as an attribute's values: where what follows it stands, or GAVE_UP; how many."""
    if byte_at(at) != OPEN_LIST:
        return GAVE_UP, 0
    at = after_blanks(at + ONE)
    if byte_at(at) == CLOSE_LIST:
        return at + ONE, 0
    for row in range(int64(found.n_rows)):
        at = read_value(spelled, found, attribute, row, at)
        if at == GAVE_UP:
            return at, 0
        at, is_end = next_entry(at, CLOSE_LIST)
        if is_end or at == GAVE_UP:
            return at, row + 1
    return GAVE_UP, 0


@compiled
def scan_columns(spelled, found, at):
    """Read the object of columns that begins here: where what follows it stands, or GAVE_UP; and how many rows."""
    n_rows = 0
    at = after_blanks(at + ONE)
    for place in range(found.n_names):
        attribute, at = next_name(spelled, found, place, 0, at)
        if at == GAVE_UP:
            return at, 0
        at, n = read_column(spelled, found, attribute, at)
        if at == GAVE_UP or (place > 0 and n != n_rows):
            return GAVE_UP, 0
        n_rows = n
        at, is_end = next_entry(at, CLOSE_OBJECT)
        if is_end or at == GAVE_UP:
            return at, n_rows
    return GAVE_UP, 0
