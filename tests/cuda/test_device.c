/* SPDX-License-Identifier: BSD-3-Clause */
/* test_device.c - a device that cannot be used, or has no memory left: the CPU does the work, with its own
 * bits, and the user is told.  Cases that hang on the first look at the device have a process of their
 * own. */
#include "reductions.h"

#include "simd/simd.h"
#include "distance/distance.h"
#include "vhem.h"

#include <sys/wait.h>
#include <unistd.h>

enum { KB = 1500, KR = 5, SET = 40 };

static int warnings, moved, streamed;
static char warning[1024];

static void listen(void *arg, int level, const char *text)
{
    (void)arg;
    if (level == VHEM_LOG_WARN) {
        warnings++;
        snprintf(warning, sizeof warning, "%s", text);
    }
    moved += strstr(text, "base HMMs on the GPU") != NULL;
    streamed += strstr(text, "a part at a time") != NULL;
}

static const char *cuda_problem(void)
{
    vhem_backend_facts facts;
    for (int i = 0; vhem_backend_info(i, &facts) == VHEM_OK; i++)
        if (strcmp(facts.name, "cuda") == 0)
            return facts.problem;
    return "it was not built";
}

typedef struct {
    vh_h3m *base, *centers;
} models;

static models make_models(vhem_ctx *ctx)
{
    vh_rng rng;
    vh_rng_init(&rng, 540, VH_RNG_TEST, 0);
    models m = { .base = ragged_h3m(ctx, &rng, KB) };
    m.centers = random_h3m(ctx, &rng, KR, 3, 2, 2, 0, 2);
    return m;
}

static void free_models(models *m)
{
    vh_h3m_free(m->base);
    vh_h3m_free(m->centers);
}

/* A reduction on the device has the bits of one on the CPU, and so many warnings. */
static void reduce_on_cpu(vhem_ctx *ctx, const models *m, int want, const char *word)
{
    const question q = { .N = KB * 0.3, .tau = 5 };
    vhem_ctx *cpu_ctx = test_ctx_with(vh_backend_cpu()->name, 1, 1);
    answer cpu = ask(cpu_ctx, m->base, m->centers, &q);
    warnings = 0;
    ctx->opt.log = listen;
    answer got = ask(ctx, m->base, m->centers, &q);
    assert_memory_equal(got.sums.block, cpu.sums.block, sizeof(double) * cpu.sums.size);
    assert_memory_equal(got.L, cpu.L, sizeof(double) * KB * KR);
    assert_memory_equal(got.z, cpu.z, sizeof(double) * KB * KR);
    assert_int_equal(warnings, want);
    assert_true(want == 0 || (strstr(warning, word) && strstr(warning, "the CPU does it")));
    answer_free(&cpu);
    answer_free(&got);
    vhem_free(cpu_ctx);
}

/* Runs the case in a process of its own, in which nobody has looked for the device. */
static void apart(void (*run)(void))
{
    int status = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        run();
        _exit(0); /* an assertion that fails has left with another status */
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void old_device(void)
{
    assert_int_equal(setenv("VHEM_FAKE_CAPABILITY", "80", 1), 0);
    assert_string_equal(cuda_problem(),
                        "its compute capability is 8.0, this vhem was built for 9.0 and newer");
    vhem_ctx *ctx = test_ctx();
    assert_string_not_equal(vhem_ctx_backend(ctx), "cuda");
    vhem_free(ctx);
}

static void no_kernels(void)
{
    assert_int_equal(setenv("VHEM_FAKE_NO_KERNELS", "1", 1), 0);
    assert_null(cuda_problem());
    vhem_ctx *ctx = test_ctx_with("cuda", 1, 1);
    models m = make_models(ctx);
    reduce_on_cpu(ctx, &m, 1, "no kernel image");
    free_models(&m);
    vhem_free(ctx);
}

static void test_unusable(void **state)
{
    (void)state;
    apart(old_device);
    apart(no_kernels);
}

static vhem_ctx *before_fork;

static void forked(void)
{
    assert_non_null(strstr(cuda_problem(), "forked"));
    vhem_ctx *ctx = test_ctx();
    assert_string_not_equal(vhem_ctx_backend(ctx), "cuda");
    vhem_free(ctx);
    models m = make_models(before_fork);
    reduce_on_cpu(before_fork, &m, 1, "forked");
    free_models(&m);
}

static void test_fork(void **state)
{
    (void)state;
    before_fork = test_ctx_with("cuda", 1, 1);
    assert_null(cuda_problem());
    apart(forked);
    vhem_free(before_fork);
}

/* Every allocation of more than so many bytes fails, whichever it is. */
static void test_no_memory(void **state)
{
    (void)state;
    static const char *const most[] = { "0", "300", "3000", "20000", "100000", "300000" };
    vhem_ctx *ctx = test_ctx_with("cuda", 1, 1);
    models m = make_models(ctx);
    for (int k = 0; k < 6; k++) {
        assert_int_equal(setenv("VHEM_FAKE_LARGEST", most[k], 1), 0);
        reduce_on_cpu(ctx, &m, 1, "out of memory");
    }
    assert_int_equal(unsetenv("VHEM_FAKE_LARGEST"), 0);
    free_models(&m);
    vhem_free(ctx);
}

/* Bounds under these centres. */
static double *bounds(vhem_ctx *ctx, const vh_base *base, const vh_h3m *centers)
{
    vh_scratch scratch = { 0 };
    vh_packed *pk = NULL;
    double *L = calloc((size_t)KB * (size_t)centers->K, sizeof *L);
    assert_ok(ctx, vh_pack_new(ctx, centers, NULL, centers->K, base->origin, base->scale, &pk));
    assert_ok(ctx, vh_pack_update(ctx, centers, NULL, pk));
    const vh_reduce_step step = { .reduced = pk, .tau = 3, .L = L };
    assert_ok(ctx, vh_reduce_run(ctx, base->opened, &step, &(vh_workers){ 1, &scratch }, true, NULL));
    vh_pack_free(pk);
    vh_scratch_free(&scratch);
    return L;
}

/* More centres than at first: tables still keep to their bounds, because tiles are planned again. */
static void test_more_centers(void **state)
{
    (void)state;
    enum { MANY = 200 };
    vhem_ctx *ctx = test_ctx_with("cuda", 1, 1);
    models m = make_models(ctx);
    vh_rng rng;
    vh_base *base = NULL;
    vh_rng_init(&rng, 542, VH_RNG_TEST, 0);
    vh_h3m *one = random_h3m(ctx, &rng, 1, 1, 1, 2, 0, 2), *many = random_h3m(ctx, &rng, MANY, 1, 1, 2, 0, 2);
    assert_ok(ctx, vh_base_new(ctx, m.base, &base));
    double *want = bounds(ctx, base, many);
    vh_base_free(base);
    assert_int_equal(setenv("VHEM_FAKE_MEMORY", "4000000", 1), 0);
    assert_int_equal(setenv("VHEM_FAKE_LARGEST", "1500000", 1), 0);
    ctx->opt.log = listen;
    warnings = moved = 0;
    assert_ok(ctx, vh_base_new(ctx, m.base, &base));
    free(bounds(ctx, base, one));
    double *got = bounds(ctx, base, many);
    assert_memory_equal(got, want, sizeof *got * KB * MANY);
    assert_int_equal(warnings, 0);
    assert_int_equal(moved, 1);
    assert_int_equal(unsetenv("VHEM_FAKE_MEMORY"), 0);
    assert_int_equal(unsetenv("VHEM_FAKE_LARGEST"), 0);
    free(want);
    free(got);
    vh_base_free(base);
    vh_h3m_free(one);
    vh_h3m_free(many);
    free_models(&m);
    vhem_free(ctx);
}

/* Base HMMs that are larger than those that the plan has looked at: they do not fit after all, and stream. */
static void test_larger_than_they_look(void **state)
{
    (void)state;
    enum { CHUNKS = 16, MANY = CHUNKS * VH_REDUCE_CHUNK, WIDE = 20 };
    vhem_ctx *ctx = test_ctx_with("cuda", 1, 1);
    vh_rng rng;
    vh_h3m *base = NULL;
    vh_rng_init(&rng, 543, VH_RNG_TEST, 0);
    vh_h3m *small = random_h3m(ctx, &rng, 1, 1, 1, WIDE, 0, 2),
           *large = random_h3m(ctx, &rng, 40, 3, 2, WIDE, 0, 2),
           *centers = random_h3m(ctx, &rng, KR, 3, 2, WIDE, 0, 2);
    assert_ok(ctx, vh_h3m_new(ctx, small->family, (vh_shape){ .d = WIDE }, MANY, &base));
    for (int i = 0; i < MANY; i++) {
        bool few = i / VH_REDUCE_CHUNK % 5 == 0 && i / VH_REDUCE_CHUNK < CHUNKS - 1;
        assert_ok(ctx, vh_h3m_shape(ctx, base, i, few ? 1 : 3, few ? 1 : 2));
        vh_hmm_copy(&base->hmm[i], few ? &small->hmm[0] : &large->hmm[i % 40]);
        base->omega[i] = 1.0 / MANY;
    }
    const question q = { .N = MANY * 0.3, .tau = 2 };
    ctx->opt.log = listen;
    warnings = streamed = 0;
    answer whole = ask(ctx, base, centers, &q);
    assert_int_equal(streamed, 0);
    assert_int_equal(setenv("VHEM_FAKE_MEMORY", "12500000", 1), 0);
    assert_int_equal(setenv("VHEM_FAKE_TOTAL", "12500000", 1), 0);
    answer parts = ask(ctx, base, centers, &q);
    assert_int_equal(streamed, 1);
    assert_int_equal(warnings, 0);
    assert_memory_equal(whole.sums.block, parts.sums.block, sizeof(double) * whole.sums.size);
    assert_memory_equal(whole.L, parts.L, sizeof(double) * MANY * KR);
    assert_int_equal(unsetenv("VHEM_FAKE_MEMORY"), 0);
    assert_int_equal(unsetenv("VHEM_FAKE_TOTAL"), 0);
    answer_free(&whole);
    answer_free(&parts);
    vh_h3m_free(small);
    vh_h3m_free(large);
    vh_h3m_free(centers);
    vh_h3m_free(base);
    vhem_free(ctx);
}

/* A part of a set that is large enough for the device goes there, though it is small itself. */
static void test_parts(void **state)
{
    (void)state;
    enum { PART = 512, TAU = 50 };
    vhem_ctx *ctx = test_ctx();
    models m = make_models(ctx);
    double origin[2] = { 0 }, scale[2] = { 1, 1 }, *L = calloc((size_t)PART * KR, sizeof *L);
    vh_scratch scratch = { 0 };
    vh_packed *pk = NULL;
    assert_string_equal(vhem_ctx_backend(ctx), "cuda");
    assert_ok(ctx, vh_pack_new(ctx, m.centers, NULL, KR, origin, scale, &pk));
    assert_ok(ctx, vh_pack_update(ctx, m.centers, NULL, pk));
    ctx->opt.log = listen;
    for (int whole = 0; whole < 2; whole++) {
        const vh_base_range range = { m.base, NULL, 0, PART, whole ? KB : PART, origin, scale };
        const vh_reduce_step step = { .reduced = pk, .tau = TAU, .L = L };
        vh_base *part = NULL;
        moved = 0;
        assert_ok(ctx, vh_base_part(ctx, &range, &part));
        assert_ok(ctx, vh_reduce_run(ctx, part->opened, &step, &(vh_workers){ 1, &scratch }, true, NULL));
        assert_int_equal(moved, whole);
        vh_base_free(part);
    }
    free(L);
    vh_scratch_free(&scratch);
    vh_pack_free(pk);
    free_models(&m);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unusable),     cmocka_unit_test(test_fork),
        cmocka_unit_test(test_no_memory),    cmocka_unit_test(test_parts),
        cmocka_unit_test(test_more_centers), cmocka_unit_test(test_larger_than_they_look)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
