// The paper does not specify profiles. Ours follow two rules. A role takes part if the task gives it something to
// work on: options to eliminate, a table to read, code to write. A role that could only restate the question would
// cost the policy exploration and the user tokens. A tool is enabled if one of these roles may use it and the task
// has what it works on.

/** These only need a question, and the paper's diagnostic D1 builds its skeleton from them. */
export const commonRoles = ['task_decomposer', 'independent_solver', 'adversarial_verifier'] as const

export const codeProfile = {
  // An algorithm, the program, its review. Evidence and knowledge roles have no material in a specification.
  furtherRoles: ['algorithm_designer', 'code_implementer', 'code_reviewer'],
  // Public tests, and free experiments; there is nothing to calculate apart from the program.
  tools: ['python_exec', 'public_code'],
} as const
