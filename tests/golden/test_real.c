/* SPDX-License-Identifier: BSD-3-Clause */
/* test_real.c - real viewers of real pictures: with the settings of the laboratory that published them,
 * and the default number of restarts, the bound is theirs or better and the groups are the same. */
#include "golden.h"
#include "vhem.h"
#include "vhem/analysis.h"

/* Do two labelings cut the models alike? */
static int same_partition(int64_t n, const int *a, const int *b)
{
    vhem_agreement g;
    vhem_partition_compare(n, a, b, &g);
    return g.adjusted_rand > 1 - 1e-12;
}

static vhem_cluster_options lab_options(json_t *group)
{
    vhem_cluster_options opt;
    VHEM_INIT(VHEM_CLUSTER_OPTIONS, &opt);
    opt.preset = "emhmm";
    opt.S = (int)json_integer_value(json_object_get(group, "S"));
    opt.tau = (int)json_integer_value(json_object_get(group, "tau"));
    return opt;
}

static void check_group(vhem_ctx *ctx, const vh_h3m *base, const char *name, json_t *group)
{
    vhem_cluster_options opt = lab_options(group);
    vh_clustering *c = NULL;
    double theirs = json_number_value(json_object_get(group, "LogL"));
    json_t *label = json_object_get(group, "label");
    assert_ok(ctx,
              call_cluster_hmms(ctx, base, (int)json_integer_value(json_object_get(group, "K")), &opt, &c));
    double ours = c->bound[c->n_iter];
    print_message("%s: their bound %.4f, ours %.4f\n", name, theirs, ours);
    assert_true(ours >= theirs - 1e-5 * fabs(theirs)); /* what one iteration may still gain when a run ends */
    int *want = malloc(sizeof *want * (size_t)c->Kb);
    for (int64_t i = 0; i < c->Kb; i++)
        want[i] = (int)json_integer_value(json_array_get(label, (size_t)i));
    assert_true(same_partition(c->Kb, want, c->label));
    free(want);
    vh_clustering_free(c);
}

static void check_file(const char *file)
{
    vhem_ctx *ctx = test_ctx_with(NULL, 0, 1);
    json_t *root = golden_load(file), *group;
    vh_h3m *base = golden_model(ctx, json_object_get(root, "base"));
    const char *name;
    json_object_foreach(json_object_get(root, "groups"), name, group) check_group(ctx, base, name, group);
    vh_h3m_free(base);
    vhem_free(ctx);
    json_decref(root);
}

static void test_jov(void **state)
{
    (void)state;
    check_file("real_jov.json");
}

static void test_faces(void **state)
{
    (void)state;
    check_file("real_faces.json");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_jov), cmocka_unit_test(test_faces) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
