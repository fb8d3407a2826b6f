//! Registries of schemes as lists: the schemes of each rounding rule, then the schemes of the systems.

/// Number of rounding rules.
const RULES: usize = 8;

/// Joins all schemes into one list. `ALL` is `RULES * PER_RULE + SHIPPED`.
pub(crate) const fn joined<D: Copy, const PER_RULE: usize, const SHIPPED: usize, const ALL: usize>(
    by_rule: [[D; PER_RULE]; RULES],
    shipped: [D; SHIPPED],
) -> [D; ALL] {
    let mut all = [shipped[0]; ALL];
    let mut i = 0;
    while i < RULES * PER_RULE {
        all[i] = by_rule[i / PER_RULE][i % PER_RULE];
        i += 1;
    }
    while i < ALL {
        all[i] = shipped[i - RULES * PER_RULE];
        i += 1;
    }
    all
}
