// The loops of preln.fused: each reads and writes its numbers once, where PyTorch makes a tensor of every intermediate
// result. native.py declares the functions at the end; their twins in PyTorch stand beside their callers, and tests
// compare the two. All matrices are contiguous, row by row.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>
#ifdef _OPENMP
#include <omp.h>
#endif

#define INLINE static inline __attribute__((always_inline))

using bfloat16 = uint16_t;  // Its bits, which are the upper half of a float's.

INLINE float load(float x) { return x; }
INLINE float load(bfloat16 x) {
    const uint32_t bits = static_cast<uint32_t>(x) << 16;
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

INLINE void store(float* to, float x) { *to = x; }
INLINE void store(bfloat16* to, float x) {
    uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    // To the nearest, and to the even one of two.
    *to = static_cast<bfloat16>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

// e^x for x <= 0, to some units in the last place, 30 of them where there is no FMA; below e^-80, which no sum with e^0 sees, it is that. A polynomial that
// compilers turn into vectors, where they call the library's for one number after the other.
INLINE float exp_of_negative(float x) {
    x = std::max(x, -80.0f);
    const int32_t power = static_cast<int32_t>(x * 1.44269504f - 0.5f);
    const float n = static_cast<float>(power), r = x - n * 0.693359375f + n * 2.12194440e-4f;
    float series = ((1.9875691e-4f * r + 1.3981999e-3f) * r + 8.3334519e-3f) * r + 4.1665796e-2f;
    series = (((series * r + 1.6666666e-1f) * r + 0.5f) * r + 1.0f) * r + 1.0f;
    const int32_t bits = (power + 127) * (1 << 23);
    float scale;
    std::memcpy(&scale, &bits, sizeof scale);
    return series * scale;
}

// Whether a number is neither infinite nor NaN; compilers that may forget about these do not see through it.
INLINE bool is_finite(float x) {
    uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return (bits & 0x7f800000u) != 0x7f800000u;
}

// What dropout multiplies with: a hash of a key and the element's place, so that the backward pass need not remember.
struct Dropout {
    uint32_t first, second, threshold;
    float scale;

    Dropout(uint64_t key, double p)
        : first(static_cast<uint32_t>(key)),
          second(static_cast<uint32_t>(key >> 32)),
          threshold(static_cast<uint32_t>(p * 4294967296.0)),
          scale(static_cast<float>(1.0 / (1.0 - p))) {}

    inline __attribute__((always_inline)) float operator()(int64_t place) const {
        uint32_t x = static_cast<uint32_t>(place) + first;
        x = ((x ^ (x >> 16)) * 0x7feb352du) ^ second;
        x = (x ^ (x >> 15)) * 0x846ca68bu;
        x ^= x >> 16;
        return static_cast<float>(x >= threshold) * scale;
    }
};

// `work` on the rows [0, rows), in as many ranges as there are threads: work(first, last, thread).
template <typename Work>
static void in_ranges(int64_t rows, int threads, const Work& work) {
#ifdef _OPENMP
    if (threads > 1) {
#pragma omp parallel num_threads(threads)
        {
            const int64_t n = omp_get_num_threads(), i = omp_get_thread_num();
            work(rows * i / n, rows * (i + 1) / n, static_cast<int>(i));
        }
        return;
    }
#endif
    work(0, rows, 0);
}

// Scores become the gradient of their cross-entropy with smoothed labels, of which `loss` and `nll` have each row's.
template <typename T>
static void cross_entropy(T* __restrict scores, const int64_t* targets, int64_t first, int64_t last, int64_t columns,
                          float smoothing, float* __restrict loss, float* __restrict nll, float* __restrict row) {
    const float each = smoothing / static_cast<float>(columns - 1);
    for (int64_t r = first; r < last; ++r) {
        T* mine = scores + r * columns;
        float highest = load(mine[0]);
        for (int64_t i = 0; i < columns; ++i) {
            row[i] = load(mine[i]);
            highest = std::max(highest, row[i]);
        }
        const float of_target = row[targets[r]] - highest;
        float total = 0.0f, shifted = 0.0f;
        for (int64_t i = 0; i < columns; ++i) {
            const float x = row[i] - highest;
            shifted += x;
            row[i] = exp_of_negative(x);
            total += row[i];
        }
        // Of a model that broke, nothing is left.
        if (!is_finite(shifted)) {
            nll[r] = loss[r] = NAN;
            for (int64_t i = 0; i < columns; ++i) store(mine + i, NAN);
            continue;
        }
        const float log_total = std::log(total), inverse = 1.0f / total;
        nll[r] = log_total - of_target;
        loss[r] = (1.0f - smoothing - each) * nll[r] + each * (static_cast<float>(columns) * log_total - shifted);
        for (int64_t i = 0; i < columns; ++i) store(mine + i, row[i] * inverse - each);
        store(mine + targets[r], row[targets[r]] * inverse - (1.0f - smoothing));
    }
}

// out = x + dropout(f), or without an x the second term alone.
template <typename T>
static void dropped_sum(const T* __restrict x, const T* __restrict f, T* __restrict out, int64_t first, int64_t last,
                        const Dropout& dropout) {
    if (x == nullptr)
        for (int64_t i = first; i < last; ++i) store(out + i, load(f[i]) * dropout(i));
    else
        for (int64_t i = first; i < last; ++i) store(out + i, load(x[i]) + load(f[i]) * dropout(i));
}

// sum = x + dropout(f) and out = LayerNorm(sum); `moments` has the mean and the inverse deviation of each row.
template <typename T>
static void norm_of_sum(const T* __restrict x, const T* __restrict f, const T* __restrict gain, const T* __restrict bias,
                        T* __restrict sum, T* __restrict out, float* __restrict moments, int64_t first, int64_t last,
                        int64_t width, float epsilon, const Dropout& dropout, float* __restrict row) {
    for (int64_t r = first; r < last; ++r) {
        const int64_t at = r * width;
        float total = 0.0f;
        for (int64_t i = 0; i < width; ++i) {
            store(sum + at + i, load(x[at + i]) + load(f[at + i]) * dropout(at + i));
            row[i] = load(sum[at + i]);
            total += row[i];
        }
        const float mean = total / static_cast<float>(width);
        float squares = 0.0f;
        for (int64_t i = 0; i < width; ++i) squares += (row[i] - mean) * (row[i] - mean);
        const float inverse = 1.0f / std::sqrt(squares / static_cast<float>(width) + epsilon);
        for (int64_t i = 0; i < width; ++i)
            store(out + at + i, (row[i] - mean) * inverse * load(gain[i]) + load(bias[i]));
        moments[2 * r] = mean;
        moments[2 * r + 1] = inverse;
    }
}

// The gradients of norm_of_sum: by x, by f, and, added up, by gain and bias.
template <typename T>
static void norm_of_sum_gradient(const T* __restrict gradient, const T* __restrict sum, const T* __restrict gain,
                                 const float* __restrict moments, T* __restrict by_x, T* __restrict by_f,
                                 float* __restrict by_gain, float* __restrict by_bias, int64_t first, int64_t last,
                                 int64_t width, const Dropout& dropout) {
    for (int64_t r = first; r < last; ++r) {
        const int64_t at = r * width;
        const float mean = moments[2 * r], inverse = moments[2 * r + 1];
        float total = 0.0f, along = 0.0f;
        for (int64_t i = 0; i < width; ++i) {
            const float g = load(gradient[at + i]), normal = (load(sum[at + i]) - mean) * inverse;
            by_gain[i] += g * normal;
            by_bias[i] += g;
            total += g * load(gain[i]);
            along += g * load(gain[i]) * normal;
        }
        total /= static_cast<float>(width);
        along /= static_cast<float>(width);
        for (int64_t i = 0; i < width; ++i) {
            const float normal = (load(sum[at + i]) - mean) * inverse;
            const float of_sum = inverse * (load(gradient[at + i]) * load(gain[i]) - total - normal * along);
            store(by_x + at + i, of_sum);
            store(by_f + at + i, of_sum * dropout(at + i));
        }
    }
}

// Attention. A sentence's head is a matrix of queries, one of keys and one of values, whose rows lie apart in memory; they
// are copied into floats in a row, of which the length is a multiple of LANES.
constexpr int64_t LANES = 16;
constexpr float UNSEEN = -1e30f;  // A score of which the weight is 0.
constexpr int64_t TILE = 32;  // Queries that are looked at together; fewer where later ones see more.
typedef float lanes __attribute__((vector_size(LANES * sizeof(float)), aligned(alignof(float)), may_alias));

// As wide as a register of AVX-512 or AVX2. GCC keeps wider vectors in memory, and shuffles them number by number.
#ifdef __AVX512F__
constexpr int64_t PACK = LANES;
#else
constexpr int64_t PACK = LANES / 2;
#endif
typedef float packed __attribute__((vector_size(PACK * sizeof(float)), aligned(alignof(float)), may_alias));

// GCC has clang's function since its twelfth version, and one of its own since ever.
#ifdef __clang__
#define SHUFFLE __builtin_shufflevector
#else
typedef int32_t places __attribute__((vector_size(PACK * sizeof(int32_t))));
#define SHUFFLE(x, y, ...) __builtin_shuffle(x, y, places{__VA_ARGS__})
#endif

INLINE int64_t whole_lanes(int64_t size) { return (size + LANES - 1) & ~(LANES - 1); }

// PACK columns of ROWS rows of c += a b, of which element (r, k) of a is at a[r * a_row + k * a_step].
template <int ROWS>
INLINE void multiply_block(const float* __restrict a, int64_t a_row, int64_t a_step, const float* __restrict b,
                           int64_t b_row, float* __restrict c, int64_t c_row, int64_t steps) {
    packed total[ROWS];
    for (int r = 0; r < ROWS; ++r) total[r] = *reinterpret_cast<const packed*>(c + r * c_row);
    for (int64_t k = 0; k < steps; ++k) {
        const packed row = *reinterpret_cast<const packed*>(b + k * b_row);
        for (int r = 0; r < ROWS; ++r) total[r] += a[r * a_row + k * a_step] * row;
    }
    for (int r = 0; r < ROWS; ++r) *reinterpret_cast<packed*>(c + r * c_row) = total[r];
}

// c += a b; c has as many columns as its rows have whole lanes.
INLINE void multiply_add(const float* a, int64_t a_row, int64_t a_step, const float* b, int64_t b_row, float* c, int64_t c_row,
                         int64_t rows, int64_t steps) {
    for (int64_t j = 0; j < c_row; j += PACK) {
        int64_t r = 0;
#define BLOCK(ROWS) multiply_block<ROWS>(a + r * a_row, a_row, a_step, b + j, b_row, c + r * c_row + j, c_row, steps)
        for (; r + 8 <= rows; r += 8) BLOCK(8);
        switch (rows - r) {
            case 7: BLOCK(7); break;
            case 6: BLOCK(6); break;
            case 5: BLOCK(5); break;
            case 4: BLOCK(4); break;
            case 3: BLOCK(3); break;
            case 2: BLOCK(2); break;
            case 1: BLOCK(1); break;
        }
#undef BLOCK
    }
}

// Rows that lie `apart` from each other, times `factor`, as rows of whole lanes.
template <typename T>
INLINE void load_rows(const T* __restrict from, int64_t apart, int64_t rows, int64_t width, float factor,
                      float* __restrict to) {
    const int64_t row = whole_lanes(width);
    for (int64_t r = 0; r < rows; ++r) {
        if (width == row)
            for (int64_t i = 0; i < row; ++i) to[r * row + i] = load(from[r * apart + i]) * factor;
        else
            for (int64_t i = 0; i < row; ++i) to[r * row + i] = i < width ? load(from[r * apart + i]) * factor : 0.0f;
    }
}

// PACK rows of PACK numbers as columns: of two rows, halves of ever smaller pieces change places.
INLINE void transpose_block(const float* __restrict from, int64_t from_row, float* __restrict to, int64_t to_row) {
    packed x[PACK], y[PACK];
    for (int i = 0; i < PACK; ++i) x[i] = *reinterpret_cast<const packed*>(from + i * from_row);
#ifdef __AVX512F__
    for (int i = 0; i < 8; ++i) {
        y[i] = SHUFFLE(x[i], x[i + 8], 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
        y[i + 8] = SHUFFLE(x[i], x[i + 8], 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
    }
    for (int i = 0; i < 16; i += i % 8 == 3 ? 5 : 1) {
        x[i] = SHUFFLE(y[i], y[i + 4], 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
        x[i + 4] = SHUFFLE(y[i], y[i + 4], 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31);
    }
    for (int i = 0; i < 16; i += i % 4 == 1 ? 3 : 1) {
        y[i] = SHUFFLE(x[i], x[i + 2], 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
        y[i + 2] = SHUFFLE(x[i], x[i + 2], 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
    }
    for (int i = 0; i < 16; i += 2) {
        x[i] = SHUFFLE(y[i], y[i + 1], 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
        x[i + 1] = SHUFFLE(y[i], y[i + 1], 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31);
    }
#else
    for (int i = 0; i < 4; ++i) {
        y[i] = SHUFFLE(x[i], x[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        y[i + 4] = SHUFFLE(x[i], x[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
    for (int i = 0; i < 8; i += i % 4 == 1 ? 3 : 1) {
        x[i] = SHUFFLE(y[i], y[i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
        x[i + 2] = SHUFFLE(y[i], y[i + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
    for (int i = 0; i < 8; i += 2) {
        y[i] = SHUFFLE(x[i], x[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        y[i + 1] = SHUFFLE(x[i], x[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
    std::copy_n(y, PACK, x);
#endif
    for (int i = 0; i < PACK; ++i) *reinterpret_cast<packed*>(to + i * to_row) = x[i];
}

// Such rows as columns of whole lanes; what is behind the last row is of no account, and must be there.
INLINE void transpose(const float* __restrict from, int64_t rows, int64_t width, float* __restrict to) {
    const int64_t from_row = whole_lanes(width), to_row = whole_lanes(rows);
    for (int64_t r = 0; r < to_row; r += PACK)
        for (int64_t i = 0; i < from_row; i += PACK)
            transpose_block(from + r * from_row + i, from_row, to + i * to_row + r, to_row);
}

template <typename T>
INLINE void store_rows(const float* __restrict from, int64_t rows, int64_t width, float factor, T* __restrict to,
                       int64_t apart) {
    const int64_t row = whole_lanes(width);
    for (int64_t r = 0; r < rows; ++r) {
        if (width == row)
            for (int64_t i = 0; i < row; ++i) store(to + r * apart + i, from[r * row + i] * factor);
        else
            for (int64_t i = 0; i < width; ++i) store(to + r * apart + i, from[r * row + i] * factor);
    }
}

// What sentences' heads look like, and where they are: vector t of sentence b is at t * time + b * sentence.
struct Attention {
    int64_t sentences, heads, width, queries, keys;
    int64_t query_time, query_sentence, key_time, key_sentence, out_time, out_sentence;
    const int64_t* seen;  // Of each sentence, the first key and the one behind the last.
    int causal;           // Whether a query sees no key that comes later.
    float scale;
};

// The scores of `rows` queries, from `first` on, become weights.
INLINE void weigh(float* __restrict scores, int64_t first, int64_t rows, int64_t keys, bool causal) {
    const int64_t row = whole_lanes(keys);
    for (int64_t r = 0; r < rows; ++r) {
        float* __restrict mine = scores + r * row;
        const int64_t known = causal ? std::min(first + r + 1, keys) : keys;
        for (int64_t i = known; i < row; ++i) mine[i] = UNSEEN;
        float highest = UNSEEN, total = 0.0f, all = 0.0f;
        for (int64_t i = 0; i < row; ++i) {
            highest = std::max(highest, mine[i]);
            all += mine[i];
        }
        for (int64_t i = 0; i < row; ++i) {
            mine[i] = exp_of_negative(mine[i] - highest);
            total += mine[i];
        }
        // A score that is not finite makes the whole row NaN, so that the divergence is seen.
        const float inverse = is_finite(all) ? 1.0f / total : NAN;
        for (int64_t i = 0; i < row; ++i) mine[i] *= inverse;
        for (int64_t i = known; i < row; ++i) mine[i] = 0.0f;
    }
}

// The heads [first, last) of all sentences' heads.
template <typename T>
static void attend(const T* query, const T* key, const T* value, T* out, const Attention& a, int64_t first, int64_t last,
                   const Dropout& dropout, bool drops) {
    const int64_t width = whole_lanes(a.width), longest = whole_lanes(a.keys), tile = a.causal ? LANES : TILE;
    std::vector<float> keys(width * longest), values(longest * width), queries(TILE * width), weights(TILE * longest),
        found(TILE * width);
    for (int64_t head = first; head < last; ++head) {
        const int64_t sentence = head / a.heads, column = head % a.heads * a.width;
        const int64_t from = a.seen[2 * sentence], known = a.seen[2 * sentence + 1] - from, columns = whole_lanes(known);
        const int64_t at = from * a.key_time + sentence * a.key_sentence + column;
        // The values' place is free until they are needed.
        load_rows(key + at, a.key_time, known, a.width, 1.0f, values.data());
        transpose(values.data(), known, a.width, keys.data());
        load_rows(value + at, a.key_time, known, a.width, 1.0f, values.data());
        for (int64_t t = 0; t < a.queries; t += tile) {
            const int64_t rows = std::min(tile, a.queries - t);
            const int64_t seen = a.causal ? std::min(known, t + rows) : known, row = whole_lanes(seen);
            load_rows(query + t * a.query_time + sentence * a.query_sentence + column, a.query_time, rows, a.width, a.scale,
                      queries.data());
            std::fill_n(weights.begin(), rows * row, 0.0f);
            multiply_add(queries.data(), width, 1, keys.data(), columns, weights.data(), row, rows, a.width);
            weigh(weights.data(), t, rows, seen, a.causal);
            if (drops) {
                for (int64_t r = 0; r < rows; ++r)
                    for (int64_t i = 0; i < row; ++i)
                        weights[r * row + i] *= dropout((head * a.queries + t + r) * longest + i);
            }
            std::fill_n(found.begin(), rows * width, 0.0f);
            multiply_add(weights.data(), row, 1, values.data(), width, found.data(), width, rows, seen);
            store_rows(found.data(), rows, a.width, 1.0f, out + t * a.out_time + sentence * a.out_sentence + column,
                       a.out_time);
        }
    }
}

// The gradients of attend by queries, keys and values, which lie in memory as these do.
template <typename T>
static void attend_gradient(const T* query, const T* key, const T* value, const T* gradient, T* by_query, T* by_key,
                            T* by_value, const Attention& a, int64_t first, int64_t last, const Dropout& dropout,
                            bool drops) {
    const int64_t width = whole_lanes(a.width), longest = whole_lanes(a.keys), tile = a.causal ? LANES : TILE;
    std::vector<float> keys(longest * width), key_columns(width * longest), value_columns(width * longest),
        of_keys(longest * width), of_values(longest * width), queries(TILE * width), gradients(TILE * width),
        of_queries(TILE * width), weights(TILE * longest), of_weights(TILE * longest);
    for (int64_t head = first; head < last; ++head) {
        const int64_t sentence = head / a.heads, column = head % a.heads * a.width;
        const int64_t from = a.seen[2 * sentence], known = a.seen[2 * sentence + 1] - from, columns = whole_lanes(known);
        const int64_t at = from * a.key_time + sentence * a.key_sentence + column;
        load_rows(key + at, a.key_time, known, a.width, 1.0f, keys.data());
        load_rows(value + at, a.key_time, known, a.width, 1.0f, of_values.data());
        transpose(keys.data(), known, a.width, key_columns.data());
        transpose(of_values.data(), known, a.width, value_columns.data());
        std::fill_n(of_keys.begin(), known * width, 0.0f);
        std::fill_n(of_values.begin(), known * width, 0.0f);
        for (int64_t t = 0; t < a.queries; t += tile) {
            const int64_t rows = std::min(tile, a.queries - t);
            const int64_t seen = a.causal ? std::min(known, t + rows) : known, row = whole_lanes(seen);
            const int64_t query_at = t * a.query_time + sentence * a.query_sentence + column;
            load_rows(query + query_at, a.query_time, rows, a.width, a.scale, queries.data());
            load_rows(gradient + t * a.out_time + sentence * a.out_sentence + column, a.out_time, rows, a.width, 1.0f,
                      gradients.data());
            std::fill_n(weights.begin(), rows * row, 0.0f);
            multiply_add(queries.data(), width, 1, key_columns.data(), columns, weights.data(), row, rows, a.width);
            weigh(weights.data(), t, rows, seen, a.causal);
            std::fill_n(of_weights.begin(), rows * row, 0.0f);
            multiply_add(gradients.data(), width, 1, value_columns.data(), columns, of_weights.data(), row, rows, a.width);
            for (int64_t r = 0; r < rows; ++r) {
                const int64_t place = (head * a.queries + t + r) * longest;
                float* __restrict w = weights.data() + r * row;
                float* __restrict g = of_weights.data() + r * row;
                float along = 0.0f;
                if (drops) {
                    // Of the weights, what is dropped has no gradient, and gives the values none.
                    for (int64_t i = 0; i < row; ++i) g[i] *= dropout(place + i);
                }
                for (int64_t i = 0; i < row; ++i) along += w[i] * g[i];
                for (int64_t i = 0; i < row; ++i) g[i] = w[i] * (g[i] - along);
                if (drops) {
                    for (int64_t i = 0; i < row; ++i) w[i] *= dropout(place + i);
                }
            }
            multiply_add(weights.data(), 1, row, gradients.data(), width, of_values.data(), width, seen, rows);
            multiply_add(of_weights.data(), 1, row, queries.data(), width, of_keys.data(), width, seen, rows);
            std::fill_n(of_queries.begin(), rows * width, 0.0f);
            multiply_add(of_weights.data(), row, 1, keys.data(), width, of_queries.data(), width, rows, seen);
            store_rows(of_queries.data(), rows, a.width, a.scale, by_query + query_at, a.query_time);
        }
        store_rows(of_keys.data(), known, a.width, 1.0f, by_key + at, a.key_time);
        store_rows(of_values.data(), known, a.width, 1.0f, by_value + at, a.key_time);
    }
}

// One step of a beam search: every hypothesis attends to its own past. Of a sentence and a step, `past` has a row for each
// of its hypotheses, its key and its value side by side; `path` says which of them is a hypothesis' own, (hypotheses,
// path_row). The rows of this step are written first: `projected` has queries, keys and values side by side. A head has
// whole lanes.
static void attend_to_path(const float* __restrict projected, float* __restrict past, const int32_t* path, int64_t path_row,
                           float* __restrict out, int64_t first, int64_t last, int64_t beam, int64_t steps, int64_t most,
                           int64_t heads, int64_t width) {
    const int64_t row = heads * width, padded = whole_lanes(steps);
    const float scale = 1.0f / std::sqrt(static_cast<float>(width));
    std::vector<float> products(padded * LANES), columns(LANES * padded), weights(padded);
    std::vector<const float*> mine(steps);
    for (int64_t i = first; i < last; ++i)
        std::copy_n(projected + (3 * i + 1) * row, 2 * row, past + 2 * ((i / beam * most + steps - 1) * beam + i % beam) * row);
    for (int64_t i = first; i < last; ++i) {
        for (int64_t s = 0; s < steps; ++s)
            mine[s] = past + 2 * ((i / beam * most + s) * beam + path[i * path_row + s]) * row;
        for (int64_t h = 0; h < heads; ++h) {
            const float* query = projected + 3 * i * row + h * width;
            for (int64_t s = 0; s < steps; ++s) {
                lanes product = {};
                for (int64_t c = 0; c < width; c += LANES)
                    product += *reinterpret_cast<const lanes*>(query + c) *
                               *reinterpret_cast<const lanes*>(mine[s] + h * width + c);
                *reinterpret_cast<lanes*>(&products[s * LANES]) = product;
            }
            // The lanes of a product are added up as rows.
            transpose(products.data(), steps, LANES, columns.data());
            for (int64_t s = 0; s < padded; s += LANES) {
                lanes score = {};
                for (int64_t j = 0; j < LANES; ++j) score += *reinterpret_cast<const lanes*>(&columns[j * padded + s]);
                *reinterpret_cast<lanes*>(&weights[s]) = score * scale;
            }
            weigh(weights.data(), 0, 1, steps, false);
            for (int64_t c = 0; c < width; c += LANES) {
                lanes found = {};
                for (int64_t s = 0; s < steps; ++s)
                    found += weights[s] * *reinterpret_cast<const lanes*>(mine[s] + row + h * width + c);
                *reinterpret_cast<lanes*>(out + i * row + h * width + c) = found;
            }
        }
    }
}

// Likewise, every hypothesis attends to its source: the same for the `beam` of a sentence. Of a sentence and a head, `keys`
// has `width` rows of `apart` numbers, of which those that are seen have LANES - 1 others behind them, and `values` has
// `longest` rows of `width`, which are whole lanes.
static void attend_to_source(const float* query, const float* keys, const float* values, const int64_t* seen, float* out,
                             int64_t first, int64_t last, int64_t beam, int64_t heads, int64_t width, int64_t longest,
                             int64_t apart) {
    const float scale = 1.0f / std::sqrt(static_cast<float>(width));
    std::vector<float> queries(beam * width), weights(beam * whole_lanes(longest)), found(beam * width);
    for (int64_t head = first; head < last; ++head) {
        const int64_t sentence = head / heads, from = seen[2 * sentence], known = seen[2 * sentence + 1] - from;
        const int64_t at = sentence * beam * heads * width + head % heads * width, row = whole_lanes(known);
        load_rows(query + at, heads * width, beam, width, scale, queries.data());
        std::fill_n(weights.begin(), beam * row, 0.0f);
        multiply_add(queries.data(), width, 1, keys + head * width * apart + from, apart, weights.data(), row, beam, width);
        weigh(weights.data(), 0, beam, known, false);
        std::fill_n(found.begin(), beam * width, 0.0f);
        multiply_add(weights.data(), row, 1, values + (head * longest + from) * width, width, found.data(), width, beam,
                     known);
        store_rows(found.data(), beam, width, 1.0f, out + at, heads * width);
    }
}

// out = x W^T + bias for the panels [first, last) of W, each LANES of its rows, which lie side by side.
static void linear(const float* x, const float* panels, const float* bias, float* out, int64_t rows, int64_t inner,
                   int64_t columns, int64_t first, int64_t last) {
    constexpr int64_t BLOCK = 8;
    float found[BLOCK * LANES];
    for (int64_t p = first; p < last; ++p) {
        const int64_t kept = std::min(LANES, columns - p * LANES);
        for (int64_t r = 0; r < rows; r += BLOCK) {
            const int64_t together = std::min(BLOCK, rows - r);
            for (int64_t i = 0; i < together; ++i) std::copy_n(bias + p * LANES, LANES, found + i * LANES);
            multiply_add(x + r * inner, inner, 1, panels + p * inner * LANES, LANES, found, LANES, together, inner);
            for (int64_t i = 0; i < together; ++i) std::copy_n(found + i * LANES, kept, out + (r + i) * columns + p * LANES);
        }
    }
}

// The `count` highest log-probabilities of each row of scores, in their order, without the columns `never`; and what a
// score exceeds its log-probability by.
static void best_of_rows(const float* __restrict scores, int64_t first, int64_t last, int64_t columns, int64_t count,
                         const int64_t* never, int64_t nevers, float* __restrict values, int64_t* __restrict places,
                         float* __restrict totals) {
    constexpr int64_t PIECE = 64;
    std::vector<float> highest((columns + PIECE - 1) / PIECE);
    for (int64_t r = first; r < last; ++r) {
        const float* mine = scores + r * columns;
        float top = mine[0], total = 0.0f;
        for (size_t p = 0; p < highest.size(); ++p) {
            float most = mine[p * PIECE];
            const int64_t end = std::min(columns, static_cast<int64_t>(p + 1) * PIECE);
            for (int64_t i = p * PIECE; i < end; ++i) most = std::max(most, mine[i]);
            highest[p] = most;
            top = std::max(top, most);
        }
        for (int64_t i = 0; i < columns; ++i) total += exp_of_negative(mine[i] - top);
        totals[r] = top + std::log(total);
        float* found = values + r * count;
        int64_t *where = places + r * count, known = 0;
        for (size_t p = 0; p < highest.size(); ++p) {
            if (known == count && highest[p] <= found[count - 1]) continue;
            const int64_t end = std::min(columns, static_cast<int64_t>(p + 1) * PIECE);
            for (int64_t i = p * PIECE; i < end; ++i) {
                if ((known == count && mine[i] <= found[count - 1]) || std::find(never, never + nevers, i) != never + nevers)
                    continue;
                known = std::min(known + 1, count);
                int64_t at = known - 1;
                for (; at > 0 && found[at - 1] < mine[i]; --at) found[at] = found[at - 1], where[at] = where[at - 1];
                found[at] = mine[i], where[at] = i;
            }
        }
        for (int64_t i = 0; i < count; ++i) found[i] -= totals[r];
    }
}

// `work` with a number of the type that the tensors have: 0 stands for float and 1 for bfloat16.
template <typename Work>
static void with_type(int type, const Work& work) {
    if (type == 0)
        work(float());
    else
        work(bfloat16());
}

extern "C" void preln_cross_entropy(int type, void* scores, const int64_t* targets, int64_t rows, int64_t columns,
                                    float smoothing, float* loss, float* nll, int threads) {
    with_type(type, [=](auto number) {
        using T = decltype(number);
        in_ranges(rows, threads, [=](int64_t first, int64_t last, int) {
            std::vector<float> row(columns);
            cross_entropy(static_cast<T*>(scores), targets, first, last, columns, smoothing, loss, nll, row.data());
        });
    });
}

extern "C" void preln_dropped_sum(int type, const void* x, const void* f, void* out, int64_t size, uint64_t key, double p,
                                  int threads) {
    const Dropout dropout(key, p);
    with_type(type, [=](auto number) {
        using T = decltype(number);
        in_ranges(size, threads, [=](int64_t first, int64_t last, int) {
            dropped_sum(static_cast<const T*>(x), static_cast<const T*>(f), static_cast<T*>(out), first, last, dropout);
        });
    });
}

extern "C" void preln_norm_of_sum(int type, const void* x, const void* f, const void* gain, const void* bias, void* sum,
                                  void* out, float* moments, int64_t rows, int64_t width, float epsilon, uint64_t key,
                                  double p, int threads) {
    const Dropout dropout(key, p);
    with_type(type, [=](auto number) {
        using T = decltype(number);
        in_ranges(rows, threads, [=](int64_t first, int64_t last, int) {
            std::vector<float> row(width);
            norm_of_sum(static_cast<const T*>(x), static_cast<const T*>(f), static_cast<const T*>(gain),
                        static_cast<const T*>(bias), static_cast<T*>(sum), static_cast<T*>(out), moments, first, last,
                        width, epsilon, dropout, row.data());
        });
    });
}

// by_gain and by_bias have a row for each thread, which the caller adds up.
extern "C" void preln_norm_of_sum_gradient(int type, const void* gradient, const void* sum, const void* gain,
                                           const float* moments, void* by_x, void* by_f, float* by_gain, float* by_bias,
                                           int64_t rows, int64_t width, uint64_t key, double p, int threads) {
    const Dropout dropout(key, p);
    with_type(type, [=](auto number) {
        using T = decltype(number);
        in_ranges(rows, threads, [=](int64_t first, int64_t last, int thread) {
            norm_of_sum_gradient(static_cast<const T*>(gradient), static_cast<const T*>(sum), static_cast<const T*>(gain),
                                 moments, static_cast<T*>(by_x), static_cast<T*>(by_f), by_gain + thread * width,
                                 by_bias + thread * width, first, last, width, dropout);
        });
    });
}

extern "C" void preln_attend(int type, const void* query, const void* key, const void* value, void* out, const Attention* a,
                             uint64_t key_of_dropout, double p, int threads) {
    const Dropout dropout(key_of_dropout, p);
    with_type(type, [=](auto number) {
        using T = decltype(number);
        in_ranges(a->sentences * a->heads, threads, [=](int64_t first, int64_t last, int) {
            attend(static_cast<const T*>(query), static_cast<const T*>(key), static_cast<const T*>(value),
                   static_cast<T*>(out), *a, first, last, dropout, p > 0.0);
        });
    });
}

extern "C" void preln_attend_gradient(int type, const void* query, const void* key, const void* value, const void* gradient,
                                      void* by_query, void* by_key, void* by_value, const Attention* a,
                                      uint64_t key_of_dropout, double p, int threads) {
    const Dropout dropout(key_of_dropout, p);
    with_type(type, [=](auto number) {
        using T = decltype(number);
        in_ranges(a->sentences * a->heads, threads, [=](int64_t first, int64_t last, int) {
            attend_gradient(static_cast<const T*>(query), static_cast<const T*>(key), static_cast<const T*>(value),
                            static_cast<const T*>(gradient), static_cast<T*>(by_query), static_cast<T*>(by_key),
                            static_cast<T*>(by_value), *a, first, last, dropout, p > 0.0);
        });
    });
}

extern "C" void preln_attend_to_path(int, const float* projected, float* past, const int32_t* path, int64_t path_row,
                                     float* out, int64_t sentences, int64_t beam, int64_t steps, int64_t most,
                                     int64_t heads, int64_t width, int threads) {
    in_ranges(sentences, threads, [=](int64_t first, int64_t last, int) {
        attend_to_path(projected, past, path, path_row, out, first * beam, last * beam, beam, steps, most, heads, width);
    });
}

extern "C" void preln_attend_to_source(int, const float* query, const float* keys, const float* values, const int64_t* seen,
                                       float* out, int64_t sentences, int64_t beam, int64_t heads, int64_t width,
                                       int64_t longest, int64_t apart, int threads) {
    in_ranges(sentences * heads, threads, [=](int64_t first, int64_t last, int) {
        attend_to_source(query, keys, values, seen, out, first, last, beam, heads, width, longest, apart);
    });
}

extern "C" void preln_linear(int, const float* x, const float* panels, const float* bias, float* out, int64_t rows,
                             int64_t inner, int64_t columns, int threads) {
    in_ranges((columns + LANES - 1) / LANES, threads, [=](int64_t first, int64_t last, int) {
        linear(x, panels, bias, out, rows, inner, columns, first, last);
    });
}

extern "C" void preln_best_of_rows(int, const float* scores, int64_t rows, int64_t columns, int64_t count,
                                   const int64_t* never, int64_t nevers, float* values, int64_t* places, float* totals,
                                   int threads) {
    in_ranges(rows, threads, [=](int64_t first, int64_t last, int) {
        best_of_rows(scores, first, last, columns, count, never, nevers, values, places, totals);
    });
}
