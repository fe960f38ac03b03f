# SPDX-License-Identifier: Apache-2.0
"""When the program fetches its next input from a DataLoader: the GPU may idle for it."""
import functools
import sys

from gable_profiler._places import call_as_from, caller


def follow(library):
    iterator = getattr(sys.modules.get("torch.utils.data.dataloader"), "_BaseDataLoaderIter", None)
    fetch = getattr(iterator, "__next__", None)
    if fetch is None:
        return
    begin, end = library.gable_input_begin, library.gable_input_end

    @functools.wraps(fetch)
    def fetch_followed(*args, **kwargs):
        if not begin():
            return call_as_from(caller(), fetch, args, kwargs)
        try:
            return call_as_from(caller(), fetch, args, kwargs)
        finally:
            end()

    iterator.__next__ = fetch_followed
