import type { BlockParts } from '../numerics/adam.ts'
import { Parameters } from '../numerics/parameters.ts'
import type { Tensor, Workspace } from '../numerics/workspace.ts'
import { type PolicyDimensions, parameterShapes } from './parameter-shapes.ts'

/** The weights of one policy under their PyTorch names, in the order of `parameterShapes`. */
export class PolicyParameters extends Parameters {
  readonly dimensions: PolicyDimensions

  constructor(workspace: Workspace, dimensions: PolicyDimensions, options: { frozen: boolean }) {
    super(workspace, parameterShapes(dimensions), options)
    this.dimensions = dimensions
  }

  /** The weight matrices, and everything else: embeddings, norms and biases. */
  get parts(): BlockParts {
    const isMatrix = (name: string) => this.shapes.get(name)!.length === 2 && !name.includes('_emb.')
    const { matrices = [], others = [] } = Object.groupBy([...this.names], (name) =>
      isMatrix(name) ? 'matrices' : 'others',
    )
    const tensors = (names: readonly string[]): Tensor[] => names.map((name) => this.tensor(name))
    return { matrices: tensors(matrices), others: tensors(others) }
  }
}
