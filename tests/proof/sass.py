# SPDX-License-Identifier: Apache-2.0
"""Reads what nvdisasm prints of one kernel, and counts what its instructions do: in a round of its loop, and beside it."""
import collections
import re

LABEL = re.compile(r"^(\.L_x_\d+):")
INSTRUCTION = re.compile(r"^\s+/\*[0-9a-f]{4,}\*/\s+(?:(@!?U?P\w+)\s+)?([A-Z][\w.]*)\s*(.*?)\s*;")
ARITHMETIC = re.compile(r"^([FHD])(ADD|MUL|FMA)(2?)(?:\.|$)")
# The shapes of warps' products, as their instructions spell them: of 32 threads, with G before MMA of 128.
SHAPES = {"884": (8, 8, 4), "8816": (8, 8, 16), "1688": (16, 8, 8), "16816": (16, 8, 16), "16832": (16, 8, 32), "16864": (16, 8, 64)}
MEMORY = {"LDG": "read", "STG": "written", "LDS": "shared_read", "STS": "shared_written"}
STEP = re.compile(r"^-0x([0-9a-f]{1,2})$|^0xfffffff([0-9a-f])$")


class Instruction:
    def __init__(self, predicate, opcode, operands):
        self.predicate, self.opcode = predicate, opcode
        self.operands = [operand.strip() for operand in operands.split(",")]
        target = re.search(r"\.L_x_\d+", operands)
        self.target = target.group(0) if target else None

    def jumps(self):
        return self.opcode.split(".")[0] in ("BRA", "CALL") and self.target is not None


class Kernel:
    def __init__(self, text):
        self.code, self.labels = [], {}
        for line in text.splitlines():
            label, instruction = LABEL.match(line), INSTRUCTION.match(line)
            if label:
                self.labels[label.group(1)] = len(self.code)
            elif instruction:
                self.code.append(Instruction(*instruction.groups()))

    def loops(self):
        """Those that lie in no other: from a branch's target to the branch. An endless one of a single branch follows the end."""
        found = sorted((self.labels[one.target], i) for i, one in enumerate(self.code)
                       if one.jumps() and self.labels.get(one.target, i) < i)
        outer = []
        for begin, end in found:
            if outer and begin <= outer[-1][1]:
                outer[-1] = (outer[-1][0], max(end, outer[-1][1]))
            else:
                outer.append((begin, end))
        return outer

    def innermost_loops(self):
        found = [(self.labels[one.target], i) for i, one in enumerate(self.code)
                 if one.jumps() and self.labels.get(one.target, i) < i]
        return [loop for loop in found if not any(other != loop and loop[0] <= other[0] and other[1] <= loop[1] for other in found)]

    def timed(self):
        """What lies between the first and the last look at the clock; none where there is no clock."""
        at = [i for i, one in enumerate(self.code) if "SR_CLOCKLO" in one.operands]
        return (at[0] + 1, at[-1] - 1) if len(at) > 1 else None

    def segments(self):
        """The timed part: whole loops, and what lies between them, cut at labels."""
        begin, end = self.timed()
        inside = [loop for loop in self.loops() if begin <= loop[0] and loop[1] <= end]
        borders = sorted({begin, end + 1} | {at for loop in inside for at in (loop[0], loop[1] + 1)} |
                         {at for at in self.labels.values()
                          if begin <= at <= end and not any(low < at <= high for low, high in inside)})
        return [(low, high - 1) for low, high in zip(borders, borders[1:])]

    def calls(self):
        """Subroutines that the compiler put in the place of an instruction that the chip has not."""
        return [one.operands for one in self.code if one.opcode.startswith("CALL") and one.target not in self.labels]

    def work(self, parts):
        counts = collections.Counter()
        for begin, end in parts:
            for one in self.code[begin:end + 1]:
                counts.update(work_of(one))
        return counts

    def elsewhere(self, parts):
        """The work of all that lies in none of these parts."""
        counts = collections.Counter()
        for i, one in enumerate(self.code):
            if not any(begin <= i <= end for begin, end in parts):
                counts.update(work_of(one))
        return counts

    def steps(self, part):
        """How many rounds of the kernel's loop a part is: by how much it lowers a counter."""
        return sum(step_of(one) for one in self.code[part[0]:part[1] + 1])


def kernels_of(text):
    """Of all that nvdisasm prints of a module: a kernel for each name."""
    parts = re.split(r"^//-+ \.text\.(\w+) +-+$", text, flags=re.MULTILINE)
    return {name: Kernel(part) for name, part in zip(parts[1::2], parts[2::2])}


def step_of(one):
    if one.opcode.split(".")[0] not in ("IADD3", "UIADD3", "VIADD", "IADD") or one.operands[0].split(".")[0] not in \
            [operand.split(".")[0] for operand in one.operands[1:]]:
        return 0
    for operand in one.operands[1:]:
        step = STEP.match(operand)
        if step:
            return int(step.group(1), 16) if step.group(1) else 16 - int(step.group(2), 16)
    return 0


def is_zero(operand):
    return operand.split(".")[0].lstrip("-") in ("RZ", "URZ")


def work_of(one):
    """Of one thread: "ffma": instructions of one number, "ffma2" and "hfma": of two; "move": HFMA2 that moves a constant; "product",
    "sum": HFMA2 that multiplies or adds alone; "tensor": operations; "read": bytes."""
    name, *parts = one.opcode.split(".")
    if name in MEMORY:
        return {MEMORY[name]: int(next((part for part in parts if part in ("64", "128")), 32)) // 8}
    if name.endswith("MMA") or name.startswith("UTC"):
        return {"tensor": operations_of(name, parts)}
    found = ARITHMETIC.match(one.opcode)
    if not found:
        return {}
    kind, operation, wide = found.groups()
    if (kind, operation) == ("H", "FMA"):
        if is_zero(one.operands[1]) and is_zero(one.operands[2]):
            return {"move": 1}
        if is_zero(one.operands[-1]):  # a constant of two halves takes two operands
            return {"product": 1}
        if one.operands[2:-1] == ["1", "1"]:
            return {"sum": 1}
    return {(kind + operation).lower() + ("2" if kind == "F" and wide else ""): 1}


def operations_of(name, parts):
    threads = 128 if name.endswith("GMMA") else 32
    for part in parts:
        if part in SHAPES:
            m, n, k = SHAPES[part]
            return 2 * m * n * k / threads
        shape = re.match(r"^(\d+)x(\d+)x(\d+)$", part)
        if shape:
            m, n, k = (int(number) for number in shape.groups())
            return 2 * m * n * k / threads
    raise ValueError(f"{name}.{'.'.join(parts)}: its shape is not known here")
