/** Valid names for roles, executors, edge types and tools: safe in file names, diagrams and messages. */
export const identifierPattern = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/
