"""Parses JSON bytes straight into columns; equals a decoder followed by `records.encode_records`.

Only usual bodies are read: objects, or columns, of numbers, text, booleans and nulls, under names that the model knows.
At anything else a kernel gives up, and what it has written is meaningless. The body is UTF-8, and followed by as many
bytes that JSON does not have as are compared at once. Positions in it are addresses, as are most fields of
`vocabulary.Words` and `json_scan.Found`.
"""

from numba import uint64

from core.compiler.byte_lanes import BYTES_AT_ONCE, equal_mask, n_bits
from core.compiler.compile import byte_at, compiled, inlined, set_byte, set_number, set_whole, whole_at
from core.records.kernels.decimals import EXACT, LEFT_TO_PYTHON, MINUS, ZERO, is_digit, read_decimal
from core.records.kernels.vocabulary import BLANK, CODE, GAVE_UP, ONE, QUOTE, WORD, are_same, string_end, word_of

KNOWN, UNSEEN = 0, 2  # states; all begin as missing
NAMES = 0  # the vocabulary of attributes' names; that of attribute i's categories is i + 1
NUMBERS, TEXT, WHOLE_NUMBERS, TRUTH_VALUES = 1, 2, 4, 8  # types that an attribute takes; 0 if it is not used
BEGIN, LENGTH, ATTRIBUTE, GLUE = 0, 8, 16, 24  # byte offsets in a line of glue, and the bytes of a line

COMMA, COLON = b",:"
A, E, F, L, N, R, S, T, U = b"aeflnrstu"
OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST = b"{}[]"
TAB, NEW_LINE, RETURN = b"\t\n\r"
MOST_WHOLE_DIGITS = 15  # of a number that every reader writes back as the same text, so it can be a category


@compiled
def count_bytes(at, end, byte):
    """Count a byte between two addresses, and possibly some after the second."""
    n = uint64(0)
    while at < end:
        n += n_bits(equal_mask(at, byte))
        at += uint64(BYTES_AT_ONCE)
    return n


@inlined
def after_blanks(at):
    """The first address from here on without a blank."""
    while byte_at(at) <= BLANK and (
        byte_at(at) == BLANK or byte_at(at) == NEW_LINE or byte_at(at) == RETURN or byte_at(at) == TAB
    ):
        at += ONE
    return at


@compiled
def are_next(at, one, two, three, four):
    """Whether these four characters are next."""
    return (
        byte_at(at) == one
        and byte_at(at + uint64(1)) == two
        and byte_at(at + uint64(2)) == three
        and byte_at(at + uint64(3)) == four
    )


@compiled
def literal_end(at):
    """The end of the `null`, `true` or `false` that begins here; GAVE_UP if there is none."""
    if are_next(at, N, U, L, L) or are_next(at, T, R, U, E):
        return at + uint64(4)
    if are_next(at, F, A, L, S) and byte_at(at + uint64(4)) == E:
        return at + uint64(5)
    return GAVE_UP


@inlined
def taken_by(found, attribute):
    """The types that an attribute's values may have."""
    return byte_at(found.takes + attribute)


@inlined
def cell_of(found, attribute, row):
    """The address of a value's cell."""
    return found.cells + (attribute * found.n_rows + row) * WORD


@inlined
def set_state(found, attribute, row, state):
    """Record the state of a value."""
    set_byte(found.states + row * found.n_attributes + attribute, state)


@inlined
def keep_word(words, found, attribute, row, start, end):
    """Record a category, or that it is unseen; returns whether it is known."""
    word = word_of(words, attribute + ONE, start, end - start)
    if word == GAVE_UP:
        set_state(found, attribute, row, UNSEEN)
        return False
    set_whole(cell_of(found, attribute, row), whole_at(word + uint64(CODE)))
    set_state(found, attribute, row, KNOWN)
    return True


@inlined
def read_string(words, found, attribute, row, at):
    """Read the text that begins here, after its quote; returns the address after it, or GAVE_UP."""
    end, has_escapes = string_end(at)
    takes = taken_by(found, attribute)
    if end == GAVE_UP or takes & NUMBERS:
        return GAVE_UP
    if takes == 0:  # not used, but escapes may hide text that is refused
        return GAVE_UP if has_escapes else end + ONE
    is_known = keep_word(words, found, attribute, row, at, end)
    # A text with escapes may be another spelling of a category.
    return end + ONE if is_known or not has_escapes else GAVE_UP


@inlined
def read_number(words, found, attribute, row, at):
    """Read the number that begins here; returns the address after it, or GAVE_UP."""
    end, value, settled, is_whole = read_decimal(at)
    takes = taken_by(found, attribute)
    if takes & TEXT:
        is_plain = is_whole and settled == EXACT and end - at <= uint64(MOST_WHOLE_DIGITS)
        if not (is_plain and takes & WHOLE_NUMBERS) or (byte_at(at) == MINUS and byte_at(at + ONE) == ZERO):
            return GAVE_UP
        keep_word(words, found, attribute, row, at, end)
        return end
    if settled == EXACT:
        if takes & NUMBERS:
            set_number(cell_of(found, attribute, row), value)
            set_state(found, attribute, row, KNOWN)
        return end
    return end if settled == LEFT_TO_PYTHON and takes & NUMBERS and leave(found, attribute, row, at, end) else GAVE_UP


@compiled
def leave(found, attribute, row, at, end):
    """Leave a number to Python if there is capacity; returns whether there was."""
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


@inlined
def read_value(words, found, attribute, row, at):
    """Read the value that begins here for an attribute of a row; returns the address after it, or GAVE_UP."""
    first = byte_at(at)
    if first == QUOTE:
        return read_string(words, found, attribute, row, at + ONE)
    if first == MINUS or is_digit(first):
        return read_number(words, found, attribute, row, at)
    end, takes = literal_end(at), taken_by(found, attribute)
    if end == GAVE_UP or first == N or takes == 0:
        return end
    if not takes & TRUTH_VALUES:
        return GAVE_UP
    keep_word(words, found, attribute, row, at, end)
    return end


@compiled
def read_name(words, at):
    """The attribute whose name begins here, and the address after its colon, or GAVE_UP."""
    if byte_at(at) != QUOTE:
        return uint64(0), GAVE_UP
    end, _ = string_end(at + ONE)
    word = GAVE_UP if end == GAVE_UP else word_of(words, uint64(NAMES), at + ONE, end - at - ONE)
    if word == GAVE_UP:
        return uint64(0), GAVE_UP
    at = after_blanks(end + ONE)
    return uint64(whole_at(word + uint64(CODE))), after_blanks(at + ONE) if byte_at(at) == COLON else GAVE_UP


@inlined
def next_name(words, found, index, row, at):
    """The attribute whose name follows the brace or comma here, and the address of its value.

    GAVE_UP if there is no name, or if the record has had it before. The text between two values of the previous record
    is usually repeated, so it is compared first.
    """
    glue = found.glue + uint64(index) * uint64(GLUE)
    begin, length = uint64(whole_at(glue)), uint64(whole_at(glue + uint64(LENGTH)))
    if length > uint64(0) and are_same(begin, at, length):
        attribute, end = uint64(whole_at(glue + uint64(ATTRIBUTE))), at + length
    else:
        attribute, end = read_name(words, after_blanks(at + ONE))
        if end == GAVE_UP:
            return attribute, GAVE_UP
        set_whole(glue, at)
        set_whole(glue + uint64(LENGTH), end - at)
        set_whole(glue + uint64(ATTRIBUTE), attribute)
    seen = found.seen + attribute * WORD
    if uint64(whole_at(seen)) == row:
        return attribute, GAVE_UP
    set_whole(seen, row)
    return attribute, end


@inlined
def read_record(words, found, row, at):
    """Read the object that begins here as a row; returns the address after it, or GAVE_UP."""
    if byte_at(at) != OPEN_OBJECT:
        return GAVE_UP
    end = after_blanks(at + ONE)
    if byte_at(end) == CLOSE_OBJECT:
        return end + ONE
    for index in range(found.n_names):
        attribute, at = next_name(words, found, index, row, at)
        if at == GAVE_UP:
            return GAVE_UP
        at = read_value(words, found, attribute, row, at)
        if at == GAVE_UP:
            return GAVE_UP
        at = after_blanks(at)
        if byte_at(at) == CLOSE_OBJECT:
            return at + ONE
        if byte_at(at) != COMMA:
            return GAVE_UP
    return GAVE_UP


@inlined
def next_entry(at, close):
    """After an entry: the address of the next one, or after the list, and whether the list has ended; or GAVE_UP."""
    at = after_blanks(at)
    if byte_at(at) == close:
        return at + ONE, True
    return (after_blanks(at + ONE) if byte_at(at) == COMMA else GAVE_UP), False


@compiled
def scan_records(words, found, at):
    """Read the list of records that begins here; returns the address after it, or GAVE_UP, and their number."""
    at = after_blanks(at + ONE)
    if byte_at(at) == CLOSE_LIST:
        return at + ONE, uint64(0)
    for row in range(found.n_rows):
        at = read_record(words, found, row, at)
        if at == GAVE_UP:
            return at, row
        at, is_end = next_entry(at, CLOSE_LIST)
        if is_end or at == GAVE_UP:
            return at, row + ONE
    return GAVE_UP, uint64(0)


@inlined
def read_column(words, found, attribute, at):
    """Read the list that begins here as an attribute's values; returns the end or GAVE_UP, and the number of values."""
    if byte_at(at) != OPEN_LIST:
        return GAVE_UP, uint64(0)
    at = after_blanks(at + ONE)
    if byte_at(at) == CLOSE_LIST:
        return at + ONE, uint64(0)
    for row in range(found.n_rows):
        at = read_value(words, found, attribute, row, at)
        if at == GAVE_UP:
            return at, row
        at, is_end = next_entry(at, CLOSE_LIST)
        if is_end or at == GAVE_UP:
            return at, row + ONE
    return GAVE_UP, uint64(0)


@compiled
def scan_columns(words, found, at):
    """Read the object of columns that begins here; returns the address after it, or GAVE_UP, and the number of rows."""
    n_rows = uint64(0)
    for index in range(found.n_names):
        attribute, at = next_name(words, found, index, uint64(0), at)
        if at == GAVE_UP:
            return at, n_rows
        at, n = read_column(words, found, attribute, at)
        if at == GAVE_UP or (index > uint64(0) and n != n_rows):
            return GAVE_UP, n
        n_rows, at = n, after_blanks(at)
        if byte_at(at) == CLOSE_OBJECT:
            return at + ONE, n_rows
        if byte_at(at) != COMMA:
            return GAVE_UP, n_rows
    return GAVE_UP, n_rows
