# SPDX-License-Identifier: Apache-2.0
"""Rows of ncu's details page, as the tests write them."""
NAME = "gpu__time_duration.sum"
HEAD = ('"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC",'
        '"Section Name","Metric Name","Metric Unit","Metric Value"\n')


def row(number, name="k", metric=NAME, unit="ns", value="10", grid="(4, 1, 1)", cc="8.0"):
    return (f'"{number}","1","app","node1","{name}","1","7","(32, 1, 1)","{grid}","0","{cc}","Command line profiler metrics",'
            f'"{metric}","{unit}","{value}"\n')
