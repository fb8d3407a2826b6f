"""Observes what ONNX Runtime computes: writes onnx.csv beside this file, with the inputs that `observe.py` would keep.

Needs PyPI onnxruntime 1.32.0, onnx 1.23.2, and what `observe.py` needs."""
import csv
from fractions import Fraction
import numpy as n, onnx, onnxruntime
from onnx import TensorProto as T, helper as h, numpy_helper
from observe import DTYPE, HERE, LEAST, derived, kept, scales_of

TYPE = {'i8': T.INT8, 'u8': T.UINT8}


def run(nodes, inputs, element, shape, constants):
    value = lambda name, shape: h.make_tensor_value_info(name, TYPE[element], shape)
    graph = h.make_graph(nodes, 'g', [value(name, v.shape) for name, v in inputs.items()], [value('y', shape)],
                         [numpy_helper.from_array(n.array(v), k) for k, v in constants.items()])
    opsets = [h.make_opsetid('', 18), h.make_opsetid('com.microsoft', 1)]
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    built = h.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString()
    session = onnxruntime.InferenceSession(built, options, providers=['CPUExecutionProvider'])
    return session.run(None, inputs)[0].ravel().astype(int)


def products(op, scales, element, si, sw, so, zero_point, x):
    N, number = len(x), n.dtype(DTYPE[element]).type
    channel = scales == 'channel'
    constants = dict(xs=n.float32(si), xz=number(0), ys=n.float32(so), yz=number(zero_point), b=n.array(x, 'int32'),
                     ws=n.full(N, sw, 'float32') if channel else n.float32(sw), wz=n.zeros(N, 'int8') if channel else n.int8(0))
    if op == 'QLinearConv':
        constants['w'] = n.ones((N, 1, 1, 1), 'int8')
        node = h.make_node(op, ['x', 'xs', 'xz', 'w', 'ws', 'wz', 'ys', 'yz', 'b'], ['y'])
        return run([node], {'x': n.zeros((1, 1, 1, 1), DTYPE[element])}, element, [1, N, 1, 1], constants)
    constants['w'] = n.ones((1, N), 'int8')
    node = h.make_node(op, ['x', 'xs', 'xz', 'w', 'ws', 'wz', 'b', 'ys', 'yz'], ['y'], domain='com.microsoft')
    return run([node], {'x': n.zeros((1, 1), DTYPE[element])}, element, [1, N], constants)


def pairs(op, element, a, b, y, values):
    number = n.dtype(DTYPE[element]).type
    constants = {}
    for name, (scale, point) in zip('aby', (a, b, y)):
        constants.update({name + 's': n.float32(scale), name + 'z': number(point)})
    inputs = {name: n.array(v, DTYPE[element]) for name, v in zip('lr', values)}
    names = ['l', 'as', 'az', 'r', 'bs', 'bz', 'ys', 'yz']
    return run([h.make_node(op, names, ['y'], domain='com.microsoft')], inputs, element, [len(values[0])], constants)


if __name__ == '__main__':
    rng = n.random.default_rng(21)
    with open(HERE / 'onnx.csv', 'w') as f:
        w = csv.writer(f, lineterminator='\n')
        w.writerow(['op', 'element', 'scales', 'lhs_scale', 'lhs_zero_point', 'rhs_scale', 'rhs_zero_point', 'output_scale', 'output_zero_point', 'lhs', 'rhs', 'observed'])
        for op, scales, element, k in [(o, s, e, k) for o, s in (('QLinearConv', 'tensor'), ('QLinearConv', 'channel'), ('QGemm', 'tensor'))
                                       for e in ('i8', 'u8') for k in range(10)]:
            si, sw, so = scales_of(rng, k)
            low = LEAST[element]
            zero_point = int(rng.integers(low, low + 256))
            m = Fraction(si) * Fraction(sw) / Fraction(so)
            ties = [int((Fraction(2 * int(step) + 1, 2) / m).__floor__()) for step in rng.integers(low - zero_point - 2, low + 258 - zero_point, size=150)]
            x = sorted({b + d for b in ties for d in (-1, 0, 1) if abs(b + d) < 2 ** 31})
            y = products(op, scales, element, si, sw, so, zero_point, x)
            other = [n.clip(v + zero_point, low, low + 255) for v in derived(si, sw, so, x)]
            rows = [[int(v[at]) for v in other] for at in range(len(x))]
            patterns = [(len(set(row)) == 1,) + tuple(v - min(row) for v in row) for row in rows]
            for at in kept(patterns, 1, 3)[:8]:
                w.writerow([op, element, scales, repr(si), 0, repr(sw), 0, repr(so), zero_point, x[at], '', y[at]])
        for op, element, k in [(o, e, k) for o in ('QLinearAdd', 'QLinearMul') for e in ('i8', 'u8') for k in range(8)]:
            low = LEAST[element]
            tied = k % 2 == 0
            scale = lambda lo, hi: float(2.0 ** int(rng.integers(lo, hi)) if tied else n.float32(2.0 ** rng.uniform(lo, hi)))
            point = lambda: int(rng.integers(low, low + 256))
            a, b = (scale(-6, -1), point()), (scale(-6, -1), point())
            add = op == 'QLinearAdd'
            y = (float(n.float32((max(a[0], b[0]) if add else a[0] * b[0]) * scale(*((-1, 3) if add else (2, 8))))), point())
            l, r = (rng.integers(low, low + 256, size=4000) for _ in 'lr')
            p, q = (l - a[1]) * a[0], (r - b[1]) * b[0]
            real = (p + q if add else p * q) / y[0]
            near = n.argsort(n.abs(real - n.floor(real) - .5) + 9. * (n.abs(real + y[1] - low - 127.5) > 127))[:8]
            got = pairs(op, element, a, b, y, (l, r))
            for at in near:
                w.writerow([op, element, '', repr(a[0]), a[1], repr(b[0]), b[1], repr(y[0]), y[1], l[at], r[at], got[at]])
