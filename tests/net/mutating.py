def mutate(word: str) -> int:
    return 0
