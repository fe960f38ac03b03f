# SPDX-License-Identifier: Apache-2.0
"""Where in the program an operator is called: the innermost line that is neither PyTorch's, Python's own nor Gable's."""
import os
import re
import sys
import sysconfig

_HERE = os.path.dirname(os.path.abspath(__file__))
_MOST = 100  # frames that are looked at
_FRAME = re.compile(r'File "([^"]+)", line (\d+), in (\S+)')


class Places:
    def __init__(self, torch):
        own = [os.path.dirname(os.path.abspath(torch.__file__)), _HERE]
        standard = [path for path in (sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")) if path]
        self._skipped = tuple(path + os.sep for path in own)
        # Packages lie below the standard library's folder.
        self._standard = tuple(path + os.sep for path in standard)
        self._packages = tuple(os.sep + name + os.sep for name in ("site-packages", "dist-packages"))
        self._known = {}  # by code or path: None, or the file as it is shown

    def of(self, frame):
        """"train.py:31 in step"; empty where no line is the program's."""
        for _ in range(_MOST):
            if frame is None:
                return ""
            code = frame.f_code
            if code not in self._known:
                self._known[code] = self._shown(code.co_filename)
            shown = self._known[code]
            if shown is not None:
                return f"{shown}:{frame.f_lineno} in {getattr(code, 'co_qualname', code.co_name)}"
            frame = frame.f_back
        return ""

    def of_trace(self, text):
        """The same of a stack in words, the innermost frame last."""
        for path, line, name in reversed(_FRAME.findall(text)):
            if path not in self._known:
                self._known[path] = self._shown(path)
            if self._known[path] is not None:
                return f"{self._known[path]}:{line} in {name}"
        return ""

    def _shown(self, path):
        package = next((path.rindex(each) + len(each) for each in self._packages if each in path), 0)
        if path.startswith("<") or path.startswith(self._skipped) or (not package and path.startswith(self._standard)):
            return None
        try:
            here = os.getcwd() + os.sep
        except OSError:
            here = os.sep
        return path[package:] if package else path[len(here):] if path.startswith(here) else path
