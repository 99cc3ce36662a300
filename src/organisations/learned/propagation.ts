/** The weights of a graph convolution: D^−½ (A + I) D^−½ of the edges taken both ways, as Kipf and Welling have it. */
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
