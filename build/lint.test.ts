import { expect, it } from 'vitest'
import { hashInputs } from './lint.mjs'

const texts = {
  'package-lock.json': '{}',
  'src-runner/tsconfig.json': '{}',
  'src-runner/globals.d.ts': 'declare const version: string',
  'resources/locales/en.json': '{}',
  'resources/locales/texts.ts': "import en from './en.json' with { type: 'json' }",
  'src-runner/lib/clock.ts': 'export type Clock = { now(): number }',
  'src-runner/lib/ids.ts': "import type { Clock } from './clock.ts'\nexport const a = 1",
  'src-runner/lib/late.ts': "export const load = () => import('./ids.ts')",
  'src-runner/one.ts': "import {\n  a,\n} from './lib/ids.ts'\nimport './other.ts'",
  'src-runner/other.ts': "export * from './one.ts'",
  'src-runner/apart.ts': "import { z } from 'zod'",
}

/** The files that are checked again after this one has changed. */
function checkedAgain(file: keyof typeof texts): string[] {
  const before = hashInputs(texts)
  const after = hashInputs({ ...texts, [file]: `${texts[file]} ` })
  return Object.keys(before).filter((one) => before[one] !== after[one])
}

it.each([
  ['src-runner/apart.ts', ['src-runner/apart.ts']],
  [
    'src-runner/lib/clock.ts',
    ['clock', 'ids', 'late'].map((name) => `src-runner/lib/${name}.ts`).concat('src-runner/one.ts', 'src-runner/other.ts'),
  ],
  ['src-runner/other.ts', ['src-runner/one.ts', 'src-runner/other.ts']],
  ['resources/locales/en.json', ['resources/locales/texts.ts']],
] as const)('%s is checked again with everything that it reaches', (file, expected) => {
  expect(checkedAgain(file)).toEqual(expected)
})

it.each(['package-lock.json', 'src-runner/tsconfig.json', 'src-runner/globals.d.ts'] as const)(
  'all files are checked again after %s',
  (file) => {
    expect(checkedAgain(file)).toEqual(Object.keys(hashInputs(texts)))
  },
)
