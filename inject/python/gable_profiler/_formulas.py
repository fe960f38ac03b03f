# SPDX-License-Identifier: Apache-2.0
"""Floating-point operations of operators, by their tensors: 2 for a multiply and an add, 8 where the numbers are complex.

Matrix products, convolutions and attention are those of torch.utils.flop_counter, but for what that gets wrong: it multiplies the
gradient of a grouped convolution's weights by the groups, takes a sparse matrix for a dense one, and complex numbers for real
ones. What else multiplies matrices has its formula here. Fourier transforms: 5 N log2 N, as is the custom (FFTW's benchmarks).
Factorisations and solvers: the counts of LAPACK's working note 41, their highest terms.
"""
from math import log2, prod


def _rows(tensor):
    return prod(tensor.shape[:-1])


def _batches(tensor):
    return prod(tensor.shape[:-2])


# --- products

def _matrix_by_vector(matrix, vector, *args, **kwargs):
    return 2 * prod(matrix.shape)


def _added_matrix_by_vector(added, matrix, vector, *args, **kwargs):
    return 2 * prod(matrix.shape)


def _added_batches(added, a, b, *args, **kwargs):
    return 2 * prod(a.shape) * b.shape[-1]


def _product(a, b, *args, **kwargs):
    return 2 * prod(a.shape) * b.shape[-1]


def _by_result(a, *args, out_val, **kwargs):
    """Of a linear layer whose weights are packed."""
    return 2 * prod(out_val.shape) * a.shape[-1]


def _grouped(a, b, *args, **kwargs):
    """Groups share the rows of `a`, the columns of `b`, what is summed over, or are batches of both; where they share, no more than is
    there. The offsets, which may leave some of it out, are on the GPU."""
    summed, columns = b.shape[-2:]
    rows = a.shape[-2] * (a.shape[0] if a.dim() == 3 and b.dim() == 3 else 1)
    return 2 * rows * summed * columns


def _outer(added, a, b, *args, **kwargs):
    return 2 * a.shape[0] * b.shape[0]


def _trilinear(a, b, c, expand_a, expand_b, expand_c, *args, **kwargs):
    """Three tensors, each with the dimensions that it lacks put in: every product of three is added up."""
    def expanded(tensor, dimensions):
        shape = list(tensor.shape)
        for place in sorted(dimensions):
            shape.insert(place, 1)
        return shape
    whole = zip(expanded(a, expand_a), expanded(b, expand_b), expanded(c, expand_c))
    return 3 * prod(map(max, whole))


# --- convolutions

def _convolution_backward(gradient, x, weight, bias_sizes, stride, padding, dilation, transposed, output_padding, groups, wanted, **kwargs):
    """Each gradient takes what forward took: every weight meets every place of the output once."""
    places = x if transposed else gradient
    return 2 * prod(weight.shape) * places.shape[0] * prod(places.shape[2:]) * (bool(wanted[0]) + bool(wanted[1]))


# --- attention and recurrence in one operator

def _native_attention(query, key, value, width, heads, qkv_weight, qkv_bias, projection, *args, **kwargs):
    batches, rows, columns = query.shape[0], query.shape[1], key.shape[1]
    inputs = (rows + 2 * columns) * width * width
    return 2 * batches * (inputs + 2 * rows * columns * width + rows * prod(projection.shape))


def _encoder_layer(source, width, heads, qkv_weight, qkv_bias, projection, projection_bias, gelu, norm_first, epsilon, norm_weight,
                   norm_bias, norm_weight_2, norm_bias_2, weight_1, bias_1, weight_2, *args, **kwargs):
    batches, rows = source.shape[:2]
    weights = sum(prod(each.shape) for each in (qkv_weight, projection, weight_1, weight_2))
    return 2 * batches * rows * (weights + 2 * rows * width)


def _recurrent(rows, weights):
    """Every weight meets every row once: of each time step and sequence."""
    return 2 * rows * sum(prod(each.shape) for each in weights if each.dim() == 2)


def _cudnn_recurrent(x, weights, *args, **kwargs):
    return _recurrent(_rows(x), weights)


def _cudnn_recurrent_backward(x, weights, *args, **kwargs):
    wanted = args[-1]  # the gradients of the input come with those of the states
    return _recurrent(_rows(x), weights) * (2 if wanted[3] else 1)


def _layer_of_onednn(x, weight_x, weight_h, *args, **kwargs):
    return _recurrent(_rows(x), (weight_x, weight_h))


def _layer_of_onednn_backward(x, weight_x, weight_h, *args, **kwargs):
    return 2 * _recurrent(_rows(x), (weight_x, weight_h))


# --- distances

_BY_PRODUCT = 25  # rows from which PyTorch takes Euclidean distances by a matrix product


def _distances(a, b, p, mode, **kwargs):
    """Each difference, its power, and their sum; or |a|^2 + |b|^2 - 2ab in one product with two columns more."""
    pairs = _batches(a) * a.shape[-2] * b.shape[-2]
    many = a.shape[-2] > _BY_PRODUCT or b.shape[-2] > _BY_PRODUCT
    by_product = p == 2 and (mode == 1 or (mode in (None, 0) and many))
    return 2 * pairs * (a.shape[-1] + 2) if by_product else 3 * pairs * a.shape[-1]


def _euclidean(a, b, *args, **kwargs):
    return _distances(a, b, 2, 1)


def _distances_backward(gradient, a, b, p, distances, **kwargs):
    return 3 * prod(distances.shape) * a.shape[-1]


def _pair_distances(a, *args, **kwargs):
    rows, columns = a.shape
    return 3 * rows * (rows - 1) // 2 * columns


def _pair_distances_backward(gradient, a, *args, **kwargs):
    rows, columns = a.shape
    return 3 * rows * (rows - 1) * columns


# --- Fourier transforms, of the dimensions together

def _transform(shape, dimensions):
    points = prod(shape[each] for each in dimensions)
    return 5 * prod(shape) * log2(points) if points > 1 else 0


def _complex_transform(x, dimensions, *args, **kwargs):
    return _transform(x.shape, dimensions)


def _real_transform(x, dimensions, *args, **kwargs):
    return _transform(x.shape, dimensions) / 2


def _transform_to_real(x, dimensions, normalization, last, *args, out_val, **kwargs):
    return _transform(out_val.shape, dimensions) / 2


# --- linear algebra; m x n matrices

def _lu(m, n):
    most, least = max(m, n), min(m, n)
    return most * least ** 2 - least ** 3 / 3


def _qr(m, n):
    most, least = max(m, n), min(m, n)
    return 2 * most * least ** 2 - 2 * least ** 3 / 3


def _columns(a, b, left=True):
    """Of a right-hand side, which may be a vector."""
    if b.dim() < a.dim() or b.dim() == 1:
        return 1
    return b.shape[-1] if left else b.shape[-2]


def _lu_factor(a, *args, **kwargs):
    return _batches(a) * _lu(*a.shape[-2:])


def _solve(a, b, *args, left=True, **kwargs):
    n = a.shape[-1]
    return _batches(a) * (_lu(n, n) + 2 * n * n * _columns(a, b, left))


def _inverse(a, *args, **kwargs):
    return _batches(a) * 2 * a.shape[-1] ** 3


def _cholesky(a, *args, **kwargs):
    return _batches(a) * a.shape[-1] ** 3 / 3


def _cholesky_inverse(a, *args, **kwargs):
    return _batches(a) * 2 * a.shape[-1] ** 3 / 3


def _triangular(a, b, *args, upper=None, left=True, **kwargs):
    return _batches(a) * a.shape[-1] ** 2 * _columns(a, b, left)


def _triangular_old(b, a, *args, **kwargs):
    return _triangular(a, b)


def _factored(factors, pivots, b, *args, left=True, **kwargs):
    return _batches(b) * 2 * factors.shape[-1] ** 2 * _columns(factors, b, left)


def _cholesky_factored(b, factor, *args, **kwargs):
    return _batches(b) * 2 * factor.shape[-1] ** 2 * b.shape[-1]


def _qr_factor(a, *args, **kwargs):
    return _batches(a) * _qr(*a.shape[-2:])


def _qr_both(a, mode="reduced", *args, **kwargs):
    return _qr_factor(a) * (1 if mode == "r" else 2)


def _householder(a, tau, *args, **kwargs):
    return _batches(a) * _qr(a.shape[-2], tau.shape[-1])


def _householder_by(a, tau, b, left=True, *args, **kwargs):
    reflectors, (m, n) = tau.shape[-1], b.shape[-2:]
    rows = m if left else n
    return _batches(b) * (4 * m * n * reflectors - 2 * (m * n // rows) * reflectors ** 2)


_OURS = {
    "mv": _matrix_by_vector, "addmv": _added_matrix_by_vector, "dot": _matrix_by_vector, "vdot": _matrix_by_vector, "addr": _outer,
    "addbmm": _added_batches, "_scaled_mm_v2": _product, "_grouped_mm": _grouped, "_scaled_grouped_mm": _grouped,
    "_scaled_grouped_mm_v2": _grouped, "_trilinear": _trilinear,
    "_weight_int8pack_mm": _by_result, "_weight_int4pack_mm": _by_result, "_weight_int4pack_mm_for_cpu": _by_result,
    "_mixed_dtypes_linear": _by_result, "mkldnn_linear": _by_result, "_dyn_quant_matmul_4bit": _by_result,
    "convolution_backward": _convolution_backward,
    "_native_multi_head_attention": _native_attention, "_transformer_encoder_layer_fwd": _encoder_layer,
    "_cudnn_rnn": _cudnn_recurrent, "_cudnn_rnn_backward": _cudnn_recurrent_backward,
    "miopen_rnn": _cudnn_recurrent, "miopen_rnn_backward": _cudnn_recurrent_backward,
    "mkldnn_rnn_layer": _layer_of_onednn, "mkldnn_rnn_layer_backward": _layer_of_onednn_backward,
    "_cdist_forward": _distances, "_euclidean_dist": _euclidean, "_cdist_backward": _distances_backward, "_pdist_forward": _pair_distances,
    "_pdist_backward": _pair_distances_backward,
    "_fft_c2c": _complex_transform, "_fft_r2c": _real_transform, "_fft_c2r": _transform_to_real,
    "linalg_lu_factor_ex": _lu_factor, "_linalg_det": _lu_factor, "_linalg_slogdet": _lu_factor, "_linalg_solve_ex": _solve,
    "linalg_inv_ex": _inverse, "linalg_cholesky_ex": _cholesky, "cholesky": _cholesky, "linalg_ldl_factor_ex": _cholesky,
    "cholesky_inverse": _cholesky_inverse, "linalg_solve_triangular": _triangular, "triangular_solve": _triangular_old,
    "linalg_lu_solve": _factored, "cholesky_solve": _cholesky_factored, "geqrf": _qr_factor, "linalg_qr": _qr_both,
    "linalg_householder_product": _householder, "ormqr": _householder_by,
}
_REAL = ("_fft_",)  # count real operations, also of complex numbers
_COMPLEX = 4  # real multiplications and additions of a complex one, against those of a real one

# What multiplies matrices, or may, and has no formula: unknown.
_NO_FORMULA = ("_rnn", "rnn_layer", "_lstm", "_gru", "_cdist", "_fft", "linalg_", "_linalg", "sparse", "_grouped_mm", "_int_mm",
               "_weight_int", "quantized", "_transformer_encoder", "_native_multi_head", "triangular_solve", "cholesky",
               "attention", "bilinear", "ormqr", "linear", "matmul")
_NOT_MATRICES = ("upsample_bilinear", "grid_sampler", "_upsample_bilinear", "upsample_linear", "_upsample_linear", "upsample_trilinear",
                 "linalg_vector_norm", "linalg_cross", "linalg_vander", "linalg_diagonal", "_linalg_check_errors", "_thnn_fused")
_OWN = frozenset(("aten", "prim", "prims", "c10d", "_c10d_functional", "_c10d_functional_autograd", "fsdp", "profiler", "inductor"))
_MULTIPLIES_SPARSE = ("mm", "mv", "matmul", "sampled", "solve", "linalg", "conv", "spdiags")
_SPARSE_PRODUCTS = {"mm": (0, 1), "_sparse_mm": (0, 1), "addmm": (1, 2), "_sparse_addmm": (1, 2), "mv": (0, 1), "addmv": (1, 2)}


class NoFormulas(Exception):
    """Says why in a sentence of its own."""


class Formulas:
    def __init__(self, torch):
        try:
            from torch.utils import flop_counter
        except ImportError as missing:
            raise NoFormulas(f"PyTorch {torch.__version__} has no formulas for it, and 2.1 or newer has") from missing
        aten = torch.ops.aten
        self._strided = torch.strided
        self._known = dict(flop_counter.flop_registry)
        for name, formula in _OURS.items():
            if hasattr(aten, name):
                self._known[getattr(aten, name)] = formula
        attention, its_backward = flop_counter.sdpa_flop, flop_counter.sdpa_backward_flop
        for name, formula in (("_scaled_dot_product_flash_attention_for_cpu", attention),
                              ("_scaled_dot_product_flash_attention_for_cpu_backward", its_backward),
                              ("_scaled_dot_product_fused_attention_overrideable", attention),
                              ("_scaled_dot_product_fused_attention_overrideable_backward", its_backward)):
            if hasattr(aten, name):
                self._known.setdefault(getattr(aten, name), formula)

    def __contains__(self, operator):
        return getattr(operator, "_overloadpacket", operator) in self._known

    def flops(self, operator, args, kwargs, out, tensors):
        """None: not known. `tensors`: among its arguments and results."""
        packet = getattr(operator, "_overloadpacket", operator)
        name = packet.__name__
        if any(each.layout != self._strided for each in tensors):
            return self._sparse(name, args)
        formula = self._known.get(packet)
        if formula is not None:
            times = _COMPLEX if any(map(_is_complex, tensors)) and not name.startswith(_REAL) else 1
            return float(formula(*args, **kwargs, out_val=out)) * times
        if getattr(operator, "namespace", "") not in _OWN:
            return None
        if any(part in name for part in _NO_FORMULA) and not name.startswith(_NOT_MATRICES):
            return None
        return 0.0

    def _sparse(self, name, args):
        """Of a sparse matrix and a dense one: what is stored meets each column once."""
        places = _SPARSE_PRODUCTS.get(name)
        if places is None:
            return None if any(part in name for part in _MULTIPLIES_SPARSE) else 0.0
        matrix, other = (args[place] for place in places)
        if matrix.layout == self._strided or other.layout != self._strided:
            return None
        stored = matrix._nnz() if matrix.is_sparse else prod(matrix.values().shape)
        return 2.0 * stored * (other.shape[-1] if other.dim() > 1 else 1) * (_COMPLEX if _is_complex(matrix) else 1)


def _is_complex(tensor):
    return tensor.is_complex()
