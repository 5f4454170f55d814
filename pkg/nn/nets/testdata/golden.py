"""Golden numbers for the nets, from JAX in float64 and its own derivatives.

    pip install jax && python golden.py > golden.json

For each variant: the tensors of the layout, the outputs, the gradient of the composed one-step loss
    mean Huber(D(x, z) - target; 0.5) + 0.5 mean (G(z) - context)^2 + 0.1 MMD^2(z, samples; sigma 2)
and the losses of ten Adam steps. Parameters and data are sines, so that nothing but results needs to be stored.
"""
import json

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)
T, C, X, U, Z, E, H, R, D, B = 5, 4, 6, 3, 2, 7, 6, 8, 9, 10  # letters of package model; R Hidden, D DecoderHidden
DELTA, SIGMA = 0.5, 2.0
LR, B1, B2, EPS, DECAY, CLIP = 0.01, 0.9, 0.999, 1e-8, 0.1, 0.4


def layout(variant):
    dense = lambda name, i, o: [(name + ".w", (i, o)), (name + ".b", (o,))]
    if variant == "gru film":
        enc = dense("encoder.dense", C, E) + [("encoder.gru.wi", (E, 3 * H)), ("encoder.gru.bi", (3 * H,)),
                                              ("encoder.gru.wh", (H, 3 * H)), ("encoder.gru.bh", (3 * H,))]
        res = dense("residual.0.in", X, R)
        for k in (1, 2):
            res += dense(f"residual.0.block{k}", R, R) + dense(f"residual.0.block{k}.film", Z, 2 * R)
    else:
        enc = dense("encoder.dense", T * C, E) + dense("encoder.hidden", E, H)
        res = dense("residual.0.in", X + Z, R)
        for k in (1, 2):
            res += dense(f"residual.0.block{k}", R, R)
    return enc + dense("encoder.latent", H, Z) + res + dense("residual.0.head", R, U) \
        + dense("decoder.dense1", Z, D) + dense("decoder.dense2", D, D) + dense("decoder.head", D, T * C)


def sines(n, frequency, phase, size):
    return size * np.sin(frequency * np.arange(n) + phase)


gelu = lambda x: jax.nn.gelu(x, approximate=True)


def nets(variant, flat, ctx, x):
    p, at = {}, 0
    for name, shape in layout(variant):
        n = int(np.prod(shape))
        p[name] = flat[at:at + n].reshape(shape)
        at += n
    lin = lambda name, v: v @ p[name + ".w"] + p[name + ".b"]
    if variant == "gru film":
        def cell(h, e):
            gi, gh = e @ p["encoder.gru.wi"] + p["encoder.gru.bi"], h @ p["encoder.gru.wh"] + p["encoder.gru.bh"]
            (ir, iu, inn), (hr, hu, hn) = jnp.split(gi, 3, -1), jnp.split(gh, 3, -1)
            r, u = jax.nn.sigmoid(ir + hr), jax.nn.sigmoid(iu + hu)
            return (1 - u) * jnp.tanh(inn + r * hn) + u * h, None
        last, _ = jax.lax.scan(cell, jnp.zeros((B, H)), gelu(lin("encoder.dense", ctx)))
    else:
        last = gelu(lin("encoder.hidden", gelu(lin("encoder.dense", ctx.swapaxes(0, 1).reshape(B, T * C)))))
    z = lin("encoder.latent", last)
    h = gelu(lin("residual.0.in", x if variant == "gru film" else jnp.concatenate([x, z], -1)))
    for k in (1, 2):
        h = lin(f"residual.0.block{k}", h)
        if variant == "gru film":
            gamma, beta = jnp.split(lin(f"residual.0.block{k}.film", z), 2, -1)
            h = (1 + gamma) * h + beta
        h = gelu(h)
    rec = lin("decoder.head", gelu(lin("decoder.dense2", gelu(lin("decoder.dense1", z)))))
    return z, lin("residual.0.head", h), rec


def mmd(x, y):
    k = lambda a, b: jnp.exp(-jnp.sum((a[:, None] - b[None]) ** 2, -1) / (2 * SIGMA ** 2)).mean()
    return k(x, x) + k(y, y) - 2 * k(x, y)


def main():
    ctx = sines(T * B * C, 0.37, 0.2, 1.5).reshape(T, B, C)
    x = sines(B * X, 0.73, 0.4, 1.5).reshape(B, X)
    target = sines(B * U, 1.1, 0.6, 1.2).reshape(B, U)
    samples = sines(B * Z, 1.7, 0.8, 1.4).reshape(B, Z)
    out = {}
    for variant in ("gru film", "mlp joined"):
        def loss(flat):
            z, y, rec = nets(variant, flat, ctx, x)
            e = jnp.abs(y - target)
            huber = jnp.where(e < DELTA, 0.5 * e * e, DELTA * (e - 0.5 * DELTA)).mean()
            return huber + 0.5 * ((rec - ctx.swapaxes(0, 1).reshape(B, T * C)) ** 2).mean() + 0.1 * mmd(z, samples)

        tensors = layout(variant)
        n = sum(int(np.prod(s)) for _, s in tensors)
        p = jnp.asarray(sines(n, 2.399963, 0.1, 0.5))
        both = jax.jit(jax.value_and_grad(loss))
        z, y, rec = nets(variant, p, ctx, x)
        grad = both(p)[1]
        m, v, losses = jnp.zeros(n), jnp.zeros(n), []
        for t in range(1, 11):
            l, g = both(p)
            losses.append(float(l))
            g = g * jnp.minimum(1.0, CLIP / jnp.linalg.norm(g))
            m, v = B1 * m + (1 - B1) * g, B2 * v + (1 - B2) * g * g
            p = p - LR * DECAY * p - LR * (m / (1 - B1 ** t)) / (jnp.sqrt(v / (1 - B2 ** t)) + EPS)
        out[variant] = dict(tensors=[[name, list(shape)] for name, shape in tensors], losses=losses,
                            z=z.ravel().tolist(), y=y.ravel().tolist(), rec=rec.ravel().tolist(), grad=grad.tolist())
    print(json.dumps(out, indent=0))


main()
