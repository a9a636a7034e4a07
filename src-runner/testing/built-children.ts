import { fileURLToPath } from 'node:url'

/** A program of this folder, as build/build-first.mjs bundles it. From source it would take three times the processor time to start. */
export function builtChild(name: string): string {
  return fileURLToPath(new URL(`../../node_modules/.cache/test-children/${name}.js`, import.meta.url))
}
