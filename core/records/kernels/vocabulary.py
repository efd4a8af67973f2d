"""Texts in memory: where a string ends, whether two texts are equal, and which word of a vocabulary a text is.

Eight bytes or more are compared at once, also beyond the end of a text; what is there changes nothing. So that much
memory before and after every text must be readable. Texts are given by their addresses.
"""

from numba import uint64

from core.compiler.byte_lanes import BYTES_AT_ONCE, below_mask, equal_mask
from core.compiler.compile import byte_at, compiled, inlined, lowest_bit, set_whole, whole_at

# Byte offsets in a line of `vocabulary.Words`, and the bytes of a line: the text's start and its length, its
# vocabulary and its code, its first eight bytes and its last.
START, LENGTH, VOCABULARY, CODE, FIRST, LAST, LINE = 0, 8, 16, 24, 32, 40, 48
ONE, WORD = uint64(1), uint64(8)
GAVE_UP = uint64(0)

QUOTE, BACKSLASH, BLANK = b'"\\ '
FIRST_FACTOR, LAST_FACTOR = 0x9E37_79B9_7F4A_7C15, 0xC2B2_AE3D_27D4_EB4F  # odd, with random-looking bits


@inlined
def string_end(at):
    """The address of the quote after a string that begins here, or GAVE_UP; and whether the string has escapes."""
    has_escapes = False
    while True:
        found = equal_mask(at, QUOTE) | equal_mask(at, BACKSLASH) | below_mask(at, BLANK)
        if found == uint64(0):
            at += uint64(BYTES_AT_ONCE)
            continue
        at += uint64(lowest_bit(found))
        if byte_at(at) == QUOTE:
            return at, has_escapes
        if byte_at(at) != BACKSLASH or byte_at(at + ONE) < BLANK:
            return GAVE_UP, has_escapes
        has_escapes = True
        at += uint64(2)


@inlined
def kept_below(word, n_bytes):
    """The lowest n bytes of a word, at most eight, with zeros above them."""
    half = uint64(4) * (WORD - n_bytes)  # in two steps, because a shift by all bits of a word is undefined
    return word & (~uint64(0) >> half >> half)


@inlined
def are_same(one, other, length):
    """Whether two texts of the same length are equal."""
    while length > WORD:
        if whole_at(one) != whole_at(other):
            return False
        one += WORD
        other += WORD
        length -= WORD
    return kept_below(uint64(whole_at(one)) ^ uint64(whole_at(other)), length) == uint64(0)


@inlined
def ends_of(start, length):
    """The first eight bytes of a text, padded with zeros; and the last eight, or 0 if it has no more than eight."""
    first = kept_below(uint64(whole_at(start)), min(length, WORD))
    last = uint64(whole_at(start + length - WORD))
    return first, last if length > WORD else uint64(0)


@inlined
def slot_of(words, first, last, length, vocabulary):
    """The first slot to probe for a word of a vocabulary with these ends."""
    mixed = first * uint64(FIRST_FACTOR) ^ (last + length + (vocabulary << uint64(32))) * uint64(LAST_FACTOR)
    return mixed >> words.slot_shift  # the highest bits depend on all others


@inlined
def word_of(words, vocabulary, start, length):
    """The address of the line of the word that is this text, in one vocabulary; GAVE_UP if there is none."""
    first, last = ends_of(start, length)
    slot = slot_of(words, first, last, length, vocabulary)
    while True:
        word = whole_at(words.slots + slot * WORD)
        if word < 0:
            return GAVE_UP
        line = words.lines + uint64(word) * uint64(LINE)
        if (
            uint64(whole_at(line + uint64(FIRST))) == first
            and uint64(whole_at(line + uint64(LAST))) == last
            and uint64(whole_at(line + uint64(LENGTH))) == length
            and uint64(whole_at(line + uint64(VOCABULARY))) == vocabulary
            and (
                length <= WORD + WORD
                or are_same(words.text + uint64(whole_at(line)) + WORD, start + WORD, length - WORD - WORD)
            )
        ):
            return line
        slot = (slot + ONE) & words.last_slot


@compiled
def fill_slots(words, n_words):
    """Put every word into a slot, and its ends into its line; there are more slots than words, all empty."""
    for word in range(n_words):
        line = words.lines + uint64(word) * uint64(LINE)
        length, vocabulary = uint64(whole_at(line + uint64(LENGTH))), uint64(whole_at(line + uint64(VOCABULARY)))
        first, last = ends_of(words.text + uint64(whole_at(line)), length)
        set_whole(line + uint64(FIRST), first)
        set_whole(line + uint64(LAST), last)
        slot = slot_of(words, first, last, length, vocabulary)
        while whole_at(words.slots + slot * WORD) >= 0:
            slot = (slot + ONE) & words.last_slot
        set_whole(words.slots + slot * WORD, word)
