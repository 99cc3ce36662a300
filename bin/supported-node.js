// Plain JavaScript that every version of Node can read: the first thing that the command and the library load.
const { bun, node } = process.versions

if (bun !== undefined)
  throw new Error(
    `magic-agents runs on Node 24 or newer and not on Bun (this is Bun ${bun}): start it with node.`,
  )
if (Number(node.split('.')[0]) < 24)
  throw new Error(
    `magic-agents needs Node 24 or newer, and this is Node ${node}: install a newer one from https://nodejs.org.`,
  )
