import quotedFigures from './quoted.json' with { type: 'json' }

/** The paper's own figures, as data. Reports put them beside measured ones, never among them. */
export const quoted = quotedFigures
