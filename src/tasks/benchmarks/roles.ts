// The paper leaves the profiles open. Ours follow two rules. A role takes part when the task gives it something to work
// on: options to eliminate, a table to read, code to write. A role that could only restate the question would cost the
// policy exploration and the user tokens. A tool is on when one of these roles may use it and the task has what it works on.

/** These need nothing but a question, and the paper's diagnostic D1 builds its skeleton from them. */
export const commonRoles = ['task_decomposer', 'independent_solver', 'adversarial_verifier'] as const

export const codeProfile = {
  // An algorithm, the program, its review. Evidence and knowledge roles have no material in a specification.
  furtherRoles: ['algorithm_designer', 'code_implementer', 'code_reviewer'],
  // Public samples as they are, and free experiments; nothing to calculate apart from the program.
  tools: ['python_exec', 'public_code'],
} as const
