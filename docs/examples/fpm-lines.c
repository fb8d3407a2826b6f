/* Fixed point multiply, rounded once, ties up: one case a line in, one result a line out. */
#include <inttypes.h>
#include <stdio.h>

int main(void) {
    char line[256];
    setvbuf(stdout, NULL, _IOLBF, 1 << 12); /* a line is flushed when it ends */
    while (fgets(line, sizeof line, stdin)) {
        int32_t m, s, q, x;
        if (sscanf(line, "m=%" SCNd32 " s=%" SCNd32 " q=%" SCNd32 " x=%" SCNd32, &m, &s, &q, &x) != 4 || q < s) {
            puts("outside-domain");
            continue;
        }
        int64_t half = q > s ? (int64_t)1 << (q - s - 1) : 0;
        printf("%" PRId32 "\n", (int32_t)(((int64_t)x * m + half) >> (q - s)));
    }
    return 0;
}
