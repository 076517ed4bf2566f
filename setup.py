"""The compiled kernel, which an installation without a C compiler does without.

Everything else is in pyproject.toml. With RISKRANK_PURE set, the wheel is one for every platform.
"""

import os

from setuptools import Extension, setup

KERNEL = Extension(
    "riskrank.engine._kernel",
    ["riskrank/engine/_kernel.c"],
    extra_compile_args=["-O3"],
    py_limited_api=True,
    optional=True,
)

setup(
    ext_modules=[] if os.environ.get("RISKRANK_PURE") else [KERNEL],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
