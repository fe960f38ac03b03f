# SPDX-License-Identifier: Apache-2.0
"""Reports of many processes as one Parquet dataset, and what a fleet loses where. Run by `gable export` and `gable fleet`."""
