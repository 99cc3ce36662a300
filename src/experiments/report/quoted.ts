import quotedFigures from './quoted.json' with { type: 'json' }

/** The paper's own figures. Reports show them in separate tables, never mixed with measured ones. */
export const quoted = quotedFigures
