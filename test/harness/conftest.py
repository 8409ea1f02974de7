"""Tests of one folder run in one process, beside other processes: each computes on one thread."""

import torch

torch.set_num_threads(1)
