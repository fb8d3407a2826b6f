"""Observes what LiteRT's optimized kernels compute on aarch64: the inputs of products.csv, pairs.csv and rescale.csv again, with columns `aarch64`.

Needs the packages of `observe.py` but for tflite-micro, on aarch64 or under an emulator of it."""
import csv, itertools
import numpy as n
import observe
from observe import HERE, S, model, pairs, products, run, tensor, DTYPE

OPERATORS = [(op, scales) for op in ('CONV_2D', 'DEPTHWISE_CONV_2D', 'FULLY_CONNECTED') for scales in ('tensor', 'channel')]


def observed(name, columns, group, ask):
    """Writes a file again with columns that `ask` gives for the rows of each group of parameters."""
    with open(HERE / name) as f:
        rows = list(csv.DictReader(f))
    header = [c for c in rows[0] if c not in columns] + columns
    for _, same in itertools.groupby(rows, lambda row: [row[c] for c in group]):
        ask(list(same))
    with open(HERE / name, 'w') as f:
        w = csv.DictWriter(f, header, lineterminator='\n')
        w.writeheader()
        w.writerows(rows)


def put(rows, column, results):
    for row, result in zip(rows, results): row[column] = int(result)


def whole(values):
    """Values with copies of the first one, to whole vectors of 16: what is behind them rounds in another way (findings 24, 26 and 30)."""
    return values + values[:1] * (-len(values) % 16)


def of_products(rows):
    element, si, sw, so, zero_point = [rows[0][c] for c in ('element', 'input_scale', 'weight_scale', 'output_scale', 'zero_point')]
    x = whole([int(row['x']) for row in rows])
    for op, scales in OPERATORS:
        column = f'{op}/{scales}/aarch64'
        if element == 'u8' and scales == 'channel':
            put(rows, column, [])
            continue
        many = [float(sw)] * len(x) if scales == 'channel' else float(sw)
        built, inputs = products(op, element, float(si), many, float(so), int(zero_point), x)
        put(rows, column, run(built, 'optimized', inputs))


def of_pairs(rows):
    point = lambda of: (float(rows[0][of + '_scale']), int(rows[0][of + '_zero_point']))
    values = [n.array(whole([int(row[c]) for row in rows])) for c in ('lhs', 'rhs')]
    built, inputs = pairs(rows[0]['op'], rows[0]['element'], *map(point, ('lhs', 'rhs', 'output')), values)
    put(rows, 'aarch64', run(built, 'optimized', inputs))


def of_rescale(rows):
    types = rows[0]['input'], rows[0]['output']
    stored = n.array(whole([int(row['stored']) for row in rows]), DTYPE[types[0]]).reshape(1, -1)
    tensors = [tensor(list(stored.shape), element, 0, float(rows[0][of + '_scale']), int(rows[0][of + '_zero_point'])) for of, element in zip(('input', 'output'), types)]
    put(rows, 'aarch64', run(model(114, 2, S.QuantizeOptionsT(), tensors, 1, []), 'optimized', [stored]))


if __name__ == '__main__':
    observed('products.csv', [f'{op}/{scales}/aarch64' for op, scales in OPERATORS],
             ['element', 'input_scale', 'weight_scale', 'output_scale', 'zero_point'], of_products)
    tensors = [f'{of}_{part}' for of in ('lhs', 'rhs', 'output') for part in ('scale', 'zero_point')]
    observed('pairs.csv', ['aarch64'], ['op', 'element'] + tensors, of_pairs)
    observed('rescale.csv', ['aarch64'], ['input', 'output', 'input_scale', 'input_zero_point', 'output_scale', 'output_zero_point'], of_rescale)
