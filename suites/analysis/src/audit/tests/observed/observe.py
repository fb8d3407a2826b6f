"""Observes what LiteRT and TensorFlow Lite Micro compute: writes products.csv, pairs.csv and rescale.csv beside this file.

Needs PyPI ai-edge-litert 2.3.0, tflite-micro 0.dev20261023182759, numpy and flatbuffers. Weights are 1, the input is at its zero point, and so
each accumulator is the bias. Of many inputs those are kept on which kernels differ, or would differ by another derivation of the multiplier."""
import csv, pathlib
from fractions import Fraction
import flatbuffers, numpy as n
from ai_edge_litert import schema_py_generated as S
from ai_edge_litert.interpreter import Interpreter, OpResolverType as R
try:
    from tflite_micro.python.tflite_micro import runtime as micro
except ImportError:  # No wheel for aarch64; `observe_aarch64.py` does not ask for it.
    micro = None

HERE = pathlib.Path(__file__).parent
SETS = {'reference': R.BUILTIN_REF, 'optimized': R.BUILTIN_WITHOUT_DEFAULT_DELEGATES, 'xnnpack': R.AUTO}
NUMBER = {'i8': 9, 'u8': 3, 'i32': 2}
LEAST = {'i8': -128, 'u8': 0}
DTYPE = {'i8': 'int8', 'u8': 'uint8', 'i32': 'int32'}


def tensor(shape, element, buffer, scales, zero_point=0, dimension=0):
    q, t = S.QuantizationParametersT(), S.TensorT()
    q.scale = n.atleast_1d(n.array(scales, 'float32')).tolist()
    q.zeroPoint, q.quantizedDimension = [zero_point] * len(q.scale), dimension
    t.name, t.shape, t.type, t.buffer, t.quantization = 't', shape, NUMBER[element], buffer, q
    return t


def model(code, version, options, tensors, inputs, data):
    m, g, o, c = S.ModelT(), S.SubGraphT(), S.OperatorT(), S.OperatorCodeT()
    o.inputs, o.outputs, o.builtinOptions = list(range(inputs)), [len(tensors) - 1], options
    o.builtinOptionsType = S.BuiltinOptions.__dict__[type(options).__name__[:-1]]
    c.builtinCode = c.deprecatedBuiltinCode = code
    c.version = version
    g.tensors, g.operators, g.outputs = tensors, [o], [len(tensors) - 1]
    g.inputs = [i for i in range(inputs) if tensors[i].buffer == 0]
    m.version, m.operatorCodes, m.subgraphs, m.buffers = 3, [c], [g], []
    for d in [None] + data:
        b = S.BufferT()
        b.data = None if d is None else n.frombuffer(d.tobytes(), 'uint8')
        m.buffers.append(b)
    f = flatbuffers.Builder(0)
    f.Finish(m.Pack(f), b'TFL3')
    return bytes(f.Output())


def run(model, kernels, inputs):
    if kernels == 'micro':
        i = micro.Interpreter.from_bytes(model, arena_size=4_000_000)
        for at, v in enumerate(inputs): i.set_input(v, at)
        i.invoke()
        return i.get_output(0).ravel().astype(int)
    i = Interpreter(model_content=model, experimental_op_resolver_type=SETS[kernels], num_threads=1)
    i.allocate_tensors()
    for d, v in zip(i.get_input_details(), inputs): i.set_tensor(d['index'], v)
    i.invoke()
    return i.get_tensor(i.get_output_details()[0]['index']).ravel().astype(int)


def products(op, element, si, sw, so, zero_point, x):
    N = len(x)
    code, options, version, a, w, y, dimension = {
        'CONV_2D': (3, S.Conv2DOptionsT, 3, [1, 1, 1, 1], [N, 1, 1, 1], [1, 1, 1, N], 0),
        'DEPTHWISE_CONV_2D': (4, S.DepthwiseConv2DOptionsT, 3, [1, 1, 1, N], [1, 1, 1, N], [1, 1, 1, N], 3),
        'FULLY_CONNECTED': (9, S.FullyConnectedOptionsT, 4, [1, 1], [N, 1], [1, N], 0)}[op]
    options = options()
    if code != 9: options.padding, options.strideH, options.strideW = 1, 1, 1
    if code == 4: options.depthMultiplier = 1
    point = 3 if element == 'u8' else 0
    tensors = [tensor(a, element, 0, si), tensor(w, element, 1, sw, point, dimension),
               tensor([N], 'i32', 2, n.float32(si) * n.array(sw, 'float32')), tensor(y, element, 0, so, zero_point)]
    data = [n.full(N, point + 1, DTYPE[element]), n.array(x, 'int32')]
    return model(code, version, options, tensors, 3, data), [n.zeros(a, DTYPE[element])]


COLUMNS = [(op, scales, kernels) for op in ('CONV_2D', 'DEPTHWISE_CONV_2D', 'FULLY_CONNECTED')
           for scales in ('tensor', 'channel') for kernels in ('reference', 'optimized', 'xnnpack', 'micro')]


def derived(si, sw, so, x):
    """By other derivations and precisions, which the kept inputs must tell apart."""
    si, sw, so = n.float32(si), n.float32(sw), n.float32(so)
    d = lambda v: n.float64(v)
    reals = d(si) * d(sw) / d(so), d(si * sw) / d(so), d(si * sw / so)
    m, e = n.frexp(reals[0])
    m, right = int(n.rint(m * 2.0 ** 31)), 31 - int(e)
    # Halves away from zero, by the multiplier of 31 bits.
    single = [(abs(v) * m + (1 << right >> 1) >> right) * (1 if v > 0 else -1) for v in x]
    x = n.array(x)
    return [n.array(single), n.sign(x) * n.floor(n.abs(x) * reals[0] + .5)] + [n.rint(x.astype('float32') * n.float32(r)) for r in reals] + [n.floor(x * r + .5) for r in reals]


def kept(patterns, least, most):
    """Numbers of the inputs to keep: of each pattern `most`, of the pattern in which all agree `least`."""
    seen, keep = {}, []
    for at, pattern in enumerate(patterns):
        limit = least if pattern[0] else most
        seen[pattern] = seen.get(pattern, 0) + 1
        if seen[pattern] <= limit: keep.append(at)
    return keep


def scales_of(rng, k):
    """Real multipliers from 2^-23 to 2^3; every fourth is a power of two."""
    si, so = n.float32(2.0 ** rng.uniform(-8, -1)), n.float32(2.0 ** rng.uniform(-8, 1))
    e = int(rng.integers(-12, 3)) if k % 4 == 0 else rng.uniform(-23, 3)
    if k % 4 == 0: si = so
    return float(si), float(n.float32(float(so) / float(si) * 2.0 ** e)), float(so)


def write_products(rng):
    with open(HERE / 'products.csv', 'w') as f:
        w = csv.writer(f, lineterminator='\n')
        w.writerow(['element', 'input_scale', 'weight_scale', 'output_scale', 'zero_point', 'x'] + ['/'.join(c) for c in COLUMNS])
        for element, count in (('i8', 44), ('u8', 28)):
            for k in range(count):
                si, sw, so = scales_of(rng, k)
                low = LEAST[element]
                zero_point = int(rng.integers(low, low + 256))
                m = Fraction(si) * Fraction(sw) / Fraction(so)
                x = []
                for step in rng.integers(low - zero_point - 2, low + 258 - zero_point, size=150):
                    b = int((Fraction(2 * int(step) + 1, 2) / m).__floor__())
                    x += [b - 1, b, b + 1]
                x = sorted({v for v in x if abs(v) < 2 ** 31})
                results = {}
                for op, scales, kernels in COLUMNS:
                    if element == 'u8' and (scales == 'channel' or kernels == 'micro'): continue
                    many = [sw] * len(x) if scales == 'channel' else sw
                    results[op, scales, kernels] = run(*(lambda p: (p[0], kernels, p[1]))(products(op, element, si, many, so, zero_point, x)))
                other = [n.clip(v + zero_point, low, low + 255) for v in derived(si, sw, so, x)]
                patterns = []
                for at in range(len(x)):
                    values = [int(r[at]) for r in results.values()] + [int(v[at]) for v in other]
                    base = min(values)
                    patterns.append((len(set(values)) == 1,) + tuple(v - base for v in values))
                for at in kept(patterns, 1, 2)[:14]:
                    cells = [results[c][at] if c in results else '' for c in COLUMNS]
                    w.writerow([element, repr(si), repr(sw), repr(so), zero_point, x[at]] + cells)


def pairs(op, element, a, b, y, values):
    N = len(values[0])
    code, options = {'ADD': (0, S.AddOptionsT), 'MUL': (18, S.MulOptionsT)}[op]
    tensors = [tensor([1, N], element, 0, *p) for p in (a, b, y)]
    return model(code, 2, options(), tensors, 2, []), [n.array(v, DTYPE[element]).reshape(1, -1) for v in values]


def write_pairs(rng):
    every = [n.repeat(n.arange(256), 256), n.tile(n.arange(256), 256)]
    with open(HERE / 'pairs.csv', 'w') as f:
        w = csv.writer(f, lineterminator='\n')
        w.writerow(['op', 'element', 'lhs_scale', 'lhs_zero_point', 'rhs_scale', 'rhs_zero_point', 'output_scale', 'output_zero_point', 'lhs', 'rhs',
                    'reference', 'optimized', 'xnnpack', 'micro'])
        for op, element, k in [(op, e, k) for op in ('ADD', 'MUL') for e in ('i8', 'u8') for k in range(10)]:
            low = LEAST[element]
            tied = k % 4 == 0
            scale = lambda lo, hi: float(2.0 ** int(rng.integers(lo, hi)) if tied else n.float32(2.0 ** rng.uniform(lo, hi)))
            point = lambda: int(rng.integers(low, low + 256))
            a, b = (scale(-6, -1), point()), (scale(-6, -1), point())
            y = (float(n.float32((max(a[0], b[0]) if op == 'ADD' else a[0] * b[0]) * scale(*((-1, 3) if op == 'ADD' else (2, 8))))), point())
            values = [v + low for v in every]
            names = [c for c in ('reference', 'optimized', 'xnnpack', 'micro') if element == 'i8' or c != 'micro']
            built, inputs = pairs(op, element, a, b, y, values)
            results = [run(built, c, inputs) for c in names]
            order = rng.permutation(65536)
            patterns = []
            for at in order:
                row = [int(r[at]) for r in results]
                patterns.append((len(set(row)) == 1,) + tuple(v - min(row) for v in row))
            for at in kept(patterns, 6, 6):
                at = order[at]
                cells = [r[at] for r in results] + [''] * (4 - len(names))
                w.writerow([op, element, repr(a[0]), a[1], repr(b[0]), b[1], repr(y[0]), y[1], values[0][at], values[1][at]] + cells)


def write_rescale(rng):
    with open(HERE / 'rescale.csv', 'w') as f:
        w = csv.writer(f, lineterminator='\n')
        w.writerow(['input', 'output', 'input_scale', 'input_zero_point', 'output_scale', 'output_zero_point', 'stored', 'reference', 'optimized', 'xnnpack', 'micro'])
        for x, y, k in [(x, y, k) for x in ('i8', 'u8') for y in ('i8', 'u8') for k in range(12)]:
            a = (float(n.float32(2.0 ** rng.uniform(-6, -2))), int(rng.integers(256)) + LEAST[x])
            factor = 2.0 ** int(rng.integers(-3, 5)) if k % 4 == 0 else 2.0 ** rng.uniform(-3, 5)
            b = (float(n.float32(a[0] * factor)), int(rng.integers(256)) + LEAST[y])
            stored = n.arange(256) + LEAST[x]
            tensors = [tensor([1, 256], x, 0, *a), tensor([1, 256], y, 0, *b)]
            built = model(114, 2, S.QuantizeOptionsT(), tensors, 1, [])
            names = [c for c in ('reference', 'optimized', 'xnnpack', 'micro') if c != 'micro' or 'i8' in (x, y)]
            results = [run(built, c, [stored.astype(DTYPE[x]).reshape(1, -1)]) for c in names]
            order = rng.permutation(256)
            patterns = []
            for at in order:
                row = [int(r[at]) for r in results]
                patterns.append((len(set(row)) == 1,) + tuple(v - min(row) for v in row))
            for at in kept(patterns, 4, 6):
                at = order[at]
                w.writerow([x, y, repr(a[0]), a[1], repr(b[0]), b[1], stored[at]] + [r[at] for r in results] + [''] * (4 - len(names)))


if __name__ == '__main__':
    rng = n.random.default_rng(20)
    write_products(rng)
    write_pairs(rng)
    write_rescale(rng)
