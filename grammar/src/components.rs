//! Strongly connected components of a relation: R. Tarjan, SIAM Journal on Computing 1(2), 1972.
//! Differs: what is open stands in a list, so that nothing recurses.

/// Number of a node that was not visited yet.
const UNSEEN: u32 = u32::MAX;

/// The components of the nodes `0..count`, each behind those that it leads to. `edge` is the node that edge number `n`
/// of a node leads to, and `None` past its last edge. Cost: linear in nodes and edges.
pub fn components(count: usize, edge: impl Fn(usize, usize) -> Option<usize>) -> Vec<Vec<usize>> {
    let mut order = vec![UNSEEN; count];
    let mut low = vec![0; count];
    let mut is_open = vec![false; count];
    let (mut open, mut found, mut seen) = (Vec::new(), Vec::new(), 0);
    for root in 0..count {
        let mut path = if order[root] == UNSEEN { vec![(root, 0)] } else { Vec::new() };
        while let Some((node, number)) = path.pop() {
            if number == 0 {
                (order[node], low[node], is_open[node]) = (seen, seen, true);
                seen += 1;
                open.push(node);
            }
            if let Some(next) = edge(node, number) {
                path.push((node, number + 1));
                if order[next] == UNSEEN {
                    path.push((next, 0));
                } else if is_open[next] {
                    low[node] = low[node].min(order[next]);
                }
                continue;
            }
            if let Some(&(parent, _)) = path.last() {
                low[parent] = low[parent].min(low[node]);
            }
            if low[node] == order[node] {
                let from = open.iter().rposition(|&other| other == node).expect("it is open");
                let component = open.split_off(from);
                component.iter().for_each(|&member| is_open[member] = false);
                found.push(component);
            }
        }
    }
    found
}
