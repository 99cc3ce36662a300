"""The TAT-QA measure in plain Python, for comparison in the scoring bench and in differential checks.

Follows the behaviour of the official scorer, one function per rule. Reads JSON Lines of
{gold: {answer_type, answer, scale}, pred: {values, scale}} and prints one line [em, f1, scale_em] per row;
with --time N it repeats the scoring N times and prints the seconds that the fastest pass took.
"""

import json
import re
import string
import sys
import time

NOT_IN_NUMBERS = "'\"\\$€£¥%(),[]"
SCALES = [("hundred", 100), ("thousand", 1000), ("million", 10**6), ("billion", 10**9), ("percent", 0.01)]
PUNCTUATION = set(string.punctuation)

FIRST_NUMBER = re.compile(r"([+-]?\d+(?:\.\d+)?)|[+-]?\.\d+")
NUMBER_THEN_WORD = re.compile(r"[\d.]+\s?[a-zA-Z]+")
IN_PARENTHESES = re.compile(r"\([\d.\s]+\)")
BEFORE_PERCENT = re.compile(r"[\d.\s]%")
ARTICLE = re.compile(r"\b(a|an|the)\b")


def scale_factor(word):
    word = word.lower()
    for name, factor in SCALES:
        if name in word:
            return factor
    return 1


def bare(text):
    return "".join(c for c in text if c not in NOT_IN_NUMBERS)


def is_number(text):
    words = " ".join(bare(word) for word in text.split()).split()
    if not words:
        return False
    try:
        value = float(words[0])
    except ValueError:
        return False
    if value != value:
        return False
    return len(words) < 2 or scale_factor(words[1]) != 1


def value_of(text):
    match = FIRST_NUMBER.search(bare(text))
    if match is None or match.group(1) is None:
        return None
    digits = match.group(1)
    value = float(digits) if "." in digits else int(digits)
    word = NUMBER_THEN_WORD.search(text)
    if word is not None:
        value *= scale_factor(word.group())
    if IN_PARENTHESES.search(text):
        value *= -1
    if BEFORE_PERCENT.search(text.strip()):
        value *= 0.01
    return round(value, 4)


def one_text(answers, scale):
    parts = []
    for answer in sorted(answers):
        value = value_of(answer) if is_number(answer) else None
        if value is None:
            parts.append(answer + " " + scale if scale else answer)
        elif "%" in answer:
            parts.append("%.4f" % value)
        else:
            parts.append("%.4f" % (round(value, 2) * scale_factor(scale)))
    return " ".join(parts)


def candidates(answers, scale):
    texts = [one_text(answers, scale)]
    if len(answers) == 1 and not scale and "%" not in answers[0] and is_number(answers[0]):
        value = value_of(answers[0])
        if value is not None:
            texts.append("%.4f" % value)
    return texts


def normalize(text):
    pieces = []
    for piece in text.split(" "):
        piece = piece.lower()
        if not is_number(piece):
            piece = "".join(c for c in piece if c not in PUNCTUATION)
        if is_number(piece):
            piece = str(value_of(piece))
        piece = " ".join(ARTICLE.sub(" ", piece).split())
        if piece:
            pieces.append(piece)
    return " ".join(pieces)


def f1_of(predicted, gold):
    common = len(predicted & gold)
    precision = common / len(predicted) if predicted else 1.0
    recall = common / len(gold) if gold else 1.0
    if precision == 0.0 and recall == 0.0:
        return 0.0
    f1 = 2 * precision * recall / (precision + recall)
    return round_half_even(f1 * 100) / 100


def round_half_even(value):
    floor = value // 1
    rest = value - floor
    return floor + 1 if rest > 0.5 or (rest == 0.5 and floor % 2 == 1) else floor


def gold_texts(gold):
    kind, answer = gold["answer_type"], gold["answer"]
    if kind in ("span", "multi-span"):
        return answer
    return [str(int(answer)) if kind == "count" else str(answer)]


def score(gold, values, scale):
    if not values:
        return 0.0, 0.0, 0.0
    expected = normalize(one_text(gold_texts(gold), gold["scale"]))
    best = (0.0, 0.0)
    for text in candidates(values, scale):
        predicted = normalize(text)
        em = 1.0 if predicted == expected else 0.0
        best = max(best, (em, f1_of(set(predicted.split()), set(expected.split()))))
    em, f1 = best
    if gold["answer_type"] in ("arithmetic", "count"):
        f1 = em
    return em, f1, 1.0 if scale == gold["scale"] else 0.0


def main():
    rows = []
    for line in sys.stdin:
        row = json.loads(line)
        rows.append((row["gold"], [str(value) for value in row["pred"]["values"]], row["pred"]["scale"]))
    if len(sys.argv) == 3 and sys.argv[1] == "--time":
        best = float("inf")
        for _ in range(int(sys.argv[2])):
            start = time.perf_counter()
            for row in rows:
                score(*row)
            best = min(best, time.perf_counter() - start)
        print(best)
    else:
        for row in rows:
            print(json.dumps(score(*row)))


if __name__ == "__main__":
    main()
