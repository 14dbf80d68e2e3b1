// Lists of neighbours: `density` finds them, the sums that follow need not search again.
//
// Entry k of particle i stands at k · count + i, so that threads side by side read side by side. A particle with
// more neighbours than a list holds is swept again: there is no limit, and nothing is lost.

@group(0) @binding(3) var<storage, read_write> list_lengths: array<u32>;
@group(0) @binding(4) var<storage, read_write> list_entries: array<u32>;

fn gather(own: Own) -> Sum {
    let entries = list_lengths[own.index];
    if entries > list_capacity {
        return sweep(own);
    }
    var total = Sum();
    for (var k = 0u; k < entries; k++) {
        let j = list_entries[k * count + own.index];
        let row = rows[j];
        let x = separation(own.position, row.xyz);
        total += visit(own, j, row, x, length(x));
    }
    return total;
}
