// The kernels of the policy network. Pointers are byte addresses in the instance's memory; nothing here allocates.
export { adam, allFinite, largest, outerAdam } from './adam'
export { gelu, gruGates, gruGatesGradient, layerNorm, layerNormGradient, multiplyAdd } from './elementwise'
export { fuses } from './lanes'
export { linear, outer, product } from './products'
export {
  attentionPool,
  attentionPoolGradient,
  dotRows,
  dotRowsGradient,
  gatherAdd,
  meanRows,
  meanRowsGradient,
  multiplyRows,
  multiplyRowsGradient,
  scatterAdd,
} from './rows'
