// Fills a data folder: node e2e/scenarios/fill.ts <name> <folder>
import { SCENARIOS } from './scenarios.ts'

const [name = '', folder] = process.argv.slice(2)
const fill = Object.hasOwn(SCENARIOS, name) ? SCENARIOS[name as keyof typeof SCENARIOS] : undefined
if (fill === undefined || folder === undefined) {
  console.error(`Which scenario, and into which folder? There are: ${Object.keys(SCENARIOS).join(', ')}.`)
  process.exit(2)
}
fill(folder, Date.now())
