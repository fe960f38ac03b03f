# SPDX-License-Identifier: Apache-2.0
"""The published schema (docs/report.schema.json) for every test that has a report: problems(document), matches(document), or as a program
report_schema.py FILE… with exit code 1 when one does not match. Runs under the interpreter that the build found
(GABLE_TEST_PYTHON)."""

import functools
import json
import pathlib
import sys

SCHEMA = pathlib.Path(__file__).resolve().parent.parent / "docs" / "report.schema.json"


def schema():
    return json.loads(SCHEMA.read_text(encoding="utf-8"))


@functools.lru_cache(maxsize=1)
def validator():
    try:
        import jsonschema
    except ImportError as error:
        raise AssertionError("the tests need Python's jsonschema (Debian: python3-jsonschema)") from error
    document = schema()
    kind = jsonschema.validators.validator_for(document)
    kind.check_schema(document)
    return kind(document)


def parse(text):
    """A report's text; NaN and Infinity are no JSON."""
    def no_constant(word):
        raise AssertionError(f"the report is no JSON: it holds {word}")
    return json.loads(text, parse_constant=no_constant)


def problems(document):
    """What the schema says against a report, each with the place."""
    return [f"{'/'.join(map(str, error.absolute_path)) or 'the report'}: {error.message[:200]}"
            for error in validator().iter_errors(document)]


def matches(document):
    """Whether there are no problems, which is known at the first one."""
    return validator().is_valid(document)


def main(paths):
    found = 0
    for path in paths:
        for problem in problems(parse(pathlib.Path(path).read_text(encoding="utf-8"))):
            print(f"{path}: {problem}", file=sys.stderr)
            found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
