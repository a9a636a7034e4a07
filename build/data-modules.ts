import type { Plugin } from 'vite'

const DATA_MODULES = /\/contract\/(?:auth-)?route-table\.ts$/

/**
 * Replaces modules whose exports are plain data by that data. Whoever needs only the paths of the routes would otherwise make all
 * of their schemas at each start, which takes 40 ms.
 */
export const dataModules: Plugin = {
  name: 'data-modules',
  async load(id) {
    if (!DATA_MODULES.test(id)) return null
    const exported: Record<string, unknown> = await import(id)
    return Object.entries(exported)
      .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)}`)
      .join('\n')
  },
}
