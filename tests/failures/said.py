# SPDX-License-Identifier: Apache-2.0
"""What a run of the program has said, beside doing what it does without Gable."""


class Said:
    """For a unittest.TestCase; `ended` is playback_program.run()'s."""

    def check_unharmed(self, ended):
        self.assertEqual((ended.code, ended.out, ended.broken), (3, "worked\n", ""), ended.err)

    def check_said(self, ended, *lines):
        """These lines and no other on standard error, each with the text or texts that are given of it, and each once in the
        report. The lines are returned."""
        self.check_unharmed(ended)
        found = ended.err.splitlines()
        self.assertEqual(len(found), len(lines), ended.err)
        for line, texts in zip(found, lines):
            for text in (texts,) if isinstance(texts, str) else texts:
                self.assertIn(text, line)
            self.assertEqual(ended.notes.count(line.removeprefix("gable: ")), 1, ended.notes)
        return found
