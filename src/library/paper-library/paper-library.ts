import { defineLibrary } from '../define-library.ts'
import type { Library } from '../library.ts'
import { adversarialVerifier } from './adversarial-verifier.ts'
import { algorithmDesigner } from './algorithm-designer.ts'
import { calculationAuditor } from './calculation-auditor.ts'
import { codeImplementer } from './code-implementer.ts'
import { codeReviewer } from './code-reviewer.ts'
import { entailmentJudge } from './entailment-judge.ts'
import { evidenceAnalyst } from './evidence-analyst.ts'
import { independentSolver } from './independent-solver.ts'
import { knowledgeReasoner } from './knowledge-reasoner.ts'
import { logicReasoner } from './logic-reasoner.ts'
import { optionEliminator } from './option-eliminator.ts'
import { quantitativeModeler } from './quantitative-modeler.ts'
import { tableInterpreter } from './table-interpreter.ts'
import { taskDecomposer } from './task-decomposer.ts'

/**
 * The paper's 14 roles in the order of its table, each with both realizations, their executors and
 * permissions as its appendix lists them. The prompts are our own: the paper does not print its. It names no
 * interface types either, so every role accepts anything and every edge is legal.
 */
export const paperLibrary: Library = defineLibrary({
  roles: [
    taskDecomposer,
    evidenceAnalyst,
    independentSolver,
    adversarialVerifier,
    knowledgeReasoner,
    optionEliminator,
    logicReasoner,
    quantitativeModeler,
    calculationAuditor,
    algorithmDesigner,
    codeImplementer,
    codeReviewer,
    tableInterpreter,
    entailmentJudge,
  ],
})
