# SPDX-License-Identifier: Apache-2.0
"""What tests on recordings of others share: their folder, and the rows of the table that they make."""
import csv

from import_run import ImportTest, reference_data

DATA = reference_data()
ROWS = []  # (file, figure, expected, got)


def shown(value):
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value == int(value):
        value = int(value)
    if isinstance(value, float):
        return f"{value:,.4f}".rstrip("0").rstrip(".")
    return f"{value:,}" if isinstance(value, int) else str(value)


class Reference(ImportTest):
    def same(self, file, figure, expected, got, table=True):
        """Both are shown in the page."""
        if table:
            ROWS.append((file, figure, shown(expected), shown(got)))
        self.assertEqual(got, expected, f"{file}: {figure}")

    def expected(self, name):
        with open(DATA / "expected" / name, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def near(self, file, figure, expected, got, digits):
        ROWS.append((file, figure, shown(expected), shown(round(got, digits))))
        self.assertEqual(round(got, digits), expected, f"{file}: {figure}")
