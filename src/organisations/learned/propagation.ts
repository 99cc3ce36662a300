/** Edges between neighbours in a list. */
export function pathEdges(count: number): [number, number][] {
  return Array.from({ length: Math.max(0, count - 1) }, (_, place) => [place, place + 1])
}

/**
 * Averages each node with the mean of its neighbours. A convolution would make all nodes of a complete graph alike.
 */
export function neighbourWeights(count: number, edges: readonly (readonly [number, number])[]): number[][] {
  return Array.from({ length: count }, (_, i) => {
    const joined = Array.from({ length: count }, (__, j) =>
      Number(i !== j && edges.some(([from, to]) => (from === i && to === j) || (from === j && to === i))),
    )
    const degree = joined.reduce((sum, entry) => sum + entry, 0)
    return joined.map((entry, j) => (j === i ? 0.5 : degree === 0 ? 0 : (0.5 * entry) / degree))
  })
}

/** The weights of Kipf and Welling's graph convolution: D^−½ (A + I) D^−½, with edges in both directions. */
export function convolutionWeights(count: number, edges: readonly (readonly [number, number])[]): number[][] {
  const adjacency = Array.from({ length: count }, (_, row) =>
    Array.from({ length: count }, (__, column) => Number(row === column)),
  )
  for (const [from, to] of edges) {
    adjacency[from]![to] = 1
    adjacency[to]![from] = 1
  }
  const degrees = adjacency.map((row) => row.reduce((sum, entry) => sum + entry, 0))
  return adjacency.map((row, i) => row.map((entry, j) => entry / Math.sqrt(degrees[i]! * degrees[j]!)))
}
