/* Resampled scores and their violation ratios, for models with equal numbers of equally weighted scores.

   Without this module, NumPy does the work (resamples.py and violation.py). Both take the same differences of the
   same numbers, and only the order of their sums differs. Arguments are contiguous arrays (buffer protocol).

   Source: method section 3. For a pair of models i < j, let x be the sorted scores and D = x_j - x_i, which
   is a step function of the quantile level (order 1), or the difference of the cumulative sums of x, which is
   piecewise linear (order 2). The ratio is the integral of D^2 where D > 0, divided by the integral of D^2. */

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* One binary has code for older and for newer processors. AVX2 has no fused products, so that both sum alike. */
#if defined(__GLIBC__) && defined(__x86_64__) && defined(__has_attribute)
#if __has_attribute(target_clones)
#define FOR_EACH_PROCESSOR __attribute__((target_clones("avx2", "default")))
#endif
#endif
#ifndef FOR_EACH_PROCESSOR
#define FOR_EACH_PROCESSOR
#endif

/* Vectors as GCC and Clang have them. Without them the package has no compiled kernel. */
typedef double Lanes __attribute__((vector_size(32), aligned(8), may_alias));
typedef int64_t Mask __attribute__((vector_size(32), aligned(8), may_alias));
#define INLINE static inline __attribute__((always_inline))

#define CHUNK 256            /* scores of all models that are compared before the next ones: they stay in the cache */
#define VECTORS 4            /* independent sums, which processors add at the same time */
#define WIDTH 4              /* numbers in a vector */
#define STEP (VECTORS * WIDTH)
#define RUN 64               /* segments whose signs are compared together */
#define SMALLEST 1e-250      /* a smaller integral has lost digits, or all of them, to underflow */

/* The integrals of D^2, and of D^2 where D is positive, up to a common factor. */
typedef struct {
    double all, positive;
} Integrals;

/* Return the sum of all numbers in some vectors. */
INLINE double add_lanes(const Lanes *lanes)
{
    Lanes sum = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* Add the squares of `count` differences. */
INLINE void add_steps(const double *first, const double *second, Py_ssize_t count, Integrals *sums)
{
    const Mask sign = {INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN};
    Lanes all[VECTORS] = {0}, positive[VECTORS] = {0};
    Py_ssize_t t = 0;
    for (; t + STEP <= count; t += STEP)
        for (int v = 0; v < VECTORS; v++) {
            Lanes d = *(Lanes *)(second + t + v * WIDTH) - *(Lanes *)(first + t + v * WIDTH);
            Lanes twice = d + (Lanes)((Mask)d & ~sign);
            all[v] += d * d;
            positive[v] += twice * twice;
        }
    for (int lane = 0; t < count; t++, lane = (lane + 1) % WIDTH) {
        double d = second[t] - first[t], twice = d + fabs(d);
        all[0][lane] += d * d;
        positive[0][lane] += twice * twice;
    }
    sums->all += add_lanes(all);
    sums->positive += add_lanes(positive) / 4;
}

/* Add the integrals over a segment on which D is linear from a to b. */
INLINE void add_segment(double a, double b, Integrals *sums)
{
    double top = a > b ? a : b, all = (a * a + b * b) + a * b;
    sums->all += all;
    if (top > 0)
        sums->positive += a * b < 0 ? top * top * (top / fabs(a - b)) : all;
}

/* Add the integrals over `count` segments between values of D, computed from both models' sums. */
INLINE void add_lines(const double *first, const double *second, Py_ssize_t count, Integrals *sums)
{
    for (Py_ssize_t t = 0; t < count; t += RUN) {
        Lanes all[VECTORS] = {0}, zero = {0};
        Mask below = {0}, above = {0};
        Py_ssize_t end = t + RUN <= count ? t + RUN : count, at = t;
        double a = second[t] - first[t], b = second[end] - first[end], total = 0;
        int negative = b < 0, positive = b > 0;
        for (; at + STEP <= end; at += STEP)
            for (int v = 0; v < VECTORS; v++) {
                const double *i = first + at + v * WIDTH, *j = second + at + v * WIDTH;
                Lanes left = *(Lanes *)j - *(Lanes *)i, right = *(Lanes *)(j + 1) - *(Lanes *)(i + 1);
                all[v] += (left + left + right) * left;
                /* Signs alone: comparisons of vectors are slow where processors have none of this length. */
                below |= (Mask)left;
                above |= (Mask)(zero - left);
            }
        negative |= (below[0] | below[1] | below[2] | below[3]) < 0;
        positive |= (above[0] | above[1] | above[2] | above[3]) < 0;
        for (; at < end; at++) {
            double left = second[at] - first[at], right = second[at + 1] - first[at + 1];
            total += (left + left + right) * left;
            negative |= left < 0;
            positive |= left > 0;
        }
        /* Each inner value ends one segment and starts another. */
        total += add_lanes(all) + (b * b - a * a);
        if (negative && positive)
            for (at = t; at < end; at++)
                add_segment(second[at] - first[at], second[at + 1] - first[at + 1], sums);
        else {
            sums->all += total;
            sums->positive += negative ? 0 : total;
        }
    }
}

/* Write cumulative sums of a chunk behind the last sum of each model; they do not wait for each other. */
INLINE void add_up(const double *scores, Py_ssize_t stride, Py_ssize_t count, double *sums, int models)
{
    double last[WIDTH];
    for (int m = 0; m < models; m++)
        last[m] = sums[m * (CHUNK + 1)];
    for (Py_ssize_t t = 0; t < count; t++)
        for (int m = 0; m < models; m++)
            sums[m * (CHUNK + 1) + t + 1] = last[m] += scores[m * stride + t];
}

/* Return the ratio of a pair whose differences are so small that their squares underflow. */
static double small_ratio(const double *first, const double *second, Py_ssize_t n, int order)
{
    double largest = 0;
    int exponent = 0;
    Integrals sums = {0, 0};
    for (int pass = 0; pass < 2; pass++) {
        double a = 0, b = 0, sum_first = 0, sum_second = 0;
        for (Py_ssize_t t = 0; t < n; t++, a = b) {
            sum_first = order == 1 ? first[t] : sum_first + first[t];
            sum_second = order == 1 ? second[t] : sum_second + second[t];
            b = ldexp(sum_second - sum_first, -exponent);
            if (pass == 0)
                largest = fabs(b) > largest ? fabs(b) : largest;
            else
                add_segment(order == 1 ? b : a, b, &sums);
        }
        if (largest == 0)
            return 0.5;
        frexp(largest, &exponent);
    }
    return sums.positive / sums.all;
}

/* Compare all pairs in one resample; models are `stride` scores apart. */
FOR_EACH_PROCESSOR
static void compare(const double *scores, Py_ssize_t stride, Py_ssize_t models, Py_ssize_t n, const int64_t *pairs,
                    Py_ssize_t count, int order, double *cumulated, Integrals *sums)
{
    memset(sums, 0, count * sizeof(Integrals));
    memset(cumulated, 0, models * (CHUNK + 1) * sizeof(double));
    for (Py_ssize_t start = 0; start < n; start += CHUNK) {
        Py_ssize_t length = n - start < CHUNK ? n - start : CHUNK;
        const double *chunk = scores + start;
        if (order == 1) {
            for (Py_ssize_t p = 0; p < count; p++)
                add_steps(chunk + pairs[p] * stride, chunk + pairs[count + p] * stride, length, sums + p);
            continue;
        }
        Py_ssize_t m = 0;
        for (Py_ssize_t each = 0; start && each < models; each++)
            cumulated[each * (CHUNK + 1)] = cumulated[each * (CHUNK + 1) + CHUNK];
        for (; m + WIDTH <= models; m += WIDTH)
            add_up(chunk + m * stride, stride, length, cumulated + m * (CHUNK + 1), WIDTH);
        for (; m < models; m++)
            add_up(chunk + m * stride, stride, length, cumulated + m * (CHUNK + 1), 1);
        for (Py_ssize_t p = 0; p < count; p++)
            add_lines(cumulated + pairs[p] * (CHUNK + 1), cumulated + pairs[count + p] * (CHUNK + 1), length,
                      sums + p);
    }
}

/* Release some buffers and return None, or NULL if an error is set or `problem` describes one. */
static PyObject *finish(Py_buffer *buffers, int count, const char *problem)
{
    while (count--)
        PyBuffer_Release(buffers + count);
    if (problem)
        PyErr_SetString(PyExc_ValueError, problem);
    return problem ? NULL : Py_NewRef(Py_None);
}

/* ratios(scores, pairs, out, n, order): scores (k, B, n), pairs (2, p) of 64-bit integers, out (p, B). */
static PyObject *ratios(PyObject *Py_UNUSED(module), PyObject *args)
{
    Py_buffer arrays[3];
    Py_ssize_t n;
    int order;
    if (!PyArg_ParseTuple(args, "y*y*w*ni", arrays, arrays + 1, arrays + 2, &n, &order))
        return NULL;
    const double *scores = arrays[0].buf;
    const int64_t *pairs = arrays[1].buf;
    double *out = arrays[2].buf;
    Py_ssize_t count = arrays[1].len / 16, rows = count ? arrays[2].len / (8 * count) : 0;
    Py_ssize_t models = rows && n > 0 ? arrays[0].len / (8 * rows * n) : 0;
    int valid = arrays[0].len == 8 * models * rows * n && arrays[2].len == 8 * count * rows;
    for (Py_ssize_t p = 0; valid && p < 2 * count; p++)
        valid = (uint64_t)pairs[p] < (uint64_t)models;
    if (!valid)
        return finish(arrays, 3, "the arrays have other sizes, or a pair has no such model");
    double *cumulated = malloc((models * (CHUNK + 1) + 1) * sizeof(double));
    Integrals *sums = malloc((count + 1) * sizeof(Integrals));
    if (cumulated && sums) {
        Py_BEGIN_ALLOW_THREADS
        for (Py_ssize_t row = 0; row < rows; row++) {
            const double *first = scores + row * n;
            compare(first, rows * n, models, n, pairs, count, order, cumulated, sums);
            for (Py_ssize_t p = 0; p < count; p++) {
                double ratio = sums[p].positive / sums[p].all;
                if (sums[p].all < SMALLEST)
                    ratio = small_ratio(first + pairs[p] * rows * n, first + pairs[count + p] * rows * n, n, order);
                out[p * rows + row] = ratio < 1 ? ratio : 1;
            }
        }
        Py_END_ALLOW_THREADS
    }
    const char *problem = cumulated && sums ? NULL : "there is not enough memory";
    free(cumulated);
    free(sums);
    return finish(arrays, 3, problem);
}

/* Write the sorted scores of one resample; return their number. No unit is drawn at random more than 255 times. */
static Py_ssize_t expand(const double *scores, const int32_t *units, const uint8_t *counts, Py_ssize_t n, double *out)
{
    Py_ssize_t s = 0, done = 0;
    /* Few units are drawn more than four times; without a branch for the others this is much faster. */
    for (; s < n && done + 4 <= n; s++) {
        out[done] = out[done + 1] = out[done + 2] = out[done + 3] = scores[s];
        for (int more = 4; more < counts[units[s]] && done + more < n; more++)
            out[done + more] = scores[s];
        done += counts[units[s]];
    }
    for (; s < n; s++)
        for (int times = counts[units[s]]; times > 0 && done < n; times--)
            out[done++] = scores[s];
    return done;
}

/* resample(scores, units, draws, out, n): sorted scores and 32-bit numbers of their units (k, n), 64-bit numbers
   of the drawn units (B, c), out (k, B, n). */
static PyObject *resample(PyObject *Py_UNUSED(module), PyObject *args)
{
    Py_buffer arrays[4];
    Py_ssize_t n;
    if (!PyArg_ParseTuple(args, "y*y*y*w*n", arrays, arrays + 1, arrays + 2, arrays + 3, &n))
        return NULL;
    const double *scores = arrays[0].buf;
    const int32_t *units = arrays[1].buf;
    const int64_t *draws = arrays[2].buf;
    double *out = arrays[3].buf;
    Py_ssize_t models = n > 0 ? arrays[0].len / (8 * n) : 0, rows = models ? arrays[3].len / arrays[0].len : 0;
    Py_ssize_t drawn = rows ? arrays[2].len / (8 * rows) : 0;
    int valid = arrays[0].len == 8 * models * n && arrays[1].len == 4 * models * n &&
                arrays[2].len == 8 * rows * drawn && arrays[3].len == 8 * models * rows * n;
    uint8_t *counts = valid ? malloc(drawn + 1) : NULL;
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t at = 0; valid && at < models * n; at++)
        valid = (uint64_t)units[at] < (uint64_t)drawn;
    for (Py_ssize_t row = 0; counts && valid && row < rows; row++) {
        const int64_t *draw = draws + row * drawn;
        memset(counts, 0, drawn);
        for (Py_ssize_t at = 0; at < drawn && (valid = (uint64_t)draw[at] < (uint64_t)drawn); at++)
            counts[draw[at]]++;
        for (Py_ssize_t m = 0; valid && m < models; m++)
            valid = expand(scores + m * n, units + m * n, counts, n, out + (m * rows + row) * n) == n;
    }
    Py_END_ALLOW_THREADS
    const char *problem = counts ? NULL : "there is not enough memory";
    free(counts);
    return finish(arrays, 4, valid ? problem : "the arrays have other sizes, or there is no such unit");
}

static PyMethodDef methods[] = {
    {"ratios", ratios, METH_VARARGS, "Write the violation ratios of pairs of models in each resample."},
    {"resample", resample, METH_VARARGS, "Write the sorted scores of every model in each resample."},
    {0},
};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "_kernel",
    .m_methods = methods,
};

PyMODINIT_FUNC PyInit__kernel(void)
{
    return PyModuleDef_Init(&definition);
}
