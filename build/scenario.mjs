// `npm run scenario busy-day [folder]`: fills a data folder with a scenario of e2e/scenarios and says how to start on it.
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { begin, projectNode, root, run, say, Stop } from './run.mjs'
import { setUp } from './setup.mjs'

/** Writes the named scenario into a folder that holds no data yet. */
export async function fillScenario(name, folder) {
  if (existsSync(join(folder, 'deckhand.db'))) throw new Stop(`${folder} holds data already; a scenario wants a folder of its own`)
  if ((await run(projectNode, ['e2e/scenarios/fill.ts', name, folder])) !== 0) throw new Stop(`the scenario "${name}" could not be written`)
}

if (import.meta.filename === process.argv[1]) {
  await begin(async () => {
    const [name = '', given] = process.argv.slice(2)
    const folder = resolve(given ?? join(root, '.deckhand/scenarios', `${name || 'none'}-${Date.now()}`))
    await setUp()
    await fillScenario(name, folder)
    say(`written to ${folder}; start with:`)
    process.stdout.write(`DECKHAND_VAULT=file DECKHAND_DATA_DIR='${folder}' npm start\n`)
  })
}
