import { expect, it } from 'vitest'
import { lookAlikesIn } from './look-alikes.ts'

const wordsIn = (text: string) =>
  lookAlikesIn({ text }).map(({ code, params }) => (code === 'approval_host' ? params.ascii : `${params.word} ${params.point}`))

it.each([
  ['a Cyrillic letter in a host of a command', 'ssh \u0430pple.com', ['\u0430pple.com U+0430']],
  ['the same in an address, with its real name', 'https://\u0430pple.com/x', ['xn--pple-43d.com']],
  ['a host in one other alphabet', 'https://\u0430\u0440\u0440\u04cf\u0435.com/', ['xn--80ak6aa92e.com']],
  ['a path that differs by a look-alike', '/home/ada/Docum\u0435nts/a.txt', ['Docum\u0435nts U+0435']],
  ['a piece that only seems to be Latin', 'config_\u0430.txt', ['config_\u0430.txt U+0430']],
  ['a program', 'rm -rf n\u03bfde_modules', ['n\u03bfde_modules U+03BF']],
  ['a slash that is none', 'a\u2215b', ['a\u2215b U+2215']],
  ['a wide letter', '\uff41pt install', []],
  ['a wide letter within a Latin word', 'sud\uff4f', ['sud\uff4f U+FF4F']],
] as const)('warns of %s', (_, text, expected) => {
  expect(wordsIn(text)).toEqual(expected.length === 0 ? ['\uff41pt U+FF41'] : expected)
})

it.each([
  'npm test',
  'Grüße aus Zürich/straße.txt',
  'отчёт/новый файл.txt',
  'report_отчёт.txt',
  '日本語のREADMEを読む',
  '中文（API）：说明',
  'μ λ π',
  '5 μm and Δx = λx, я_1',
  'https://xn--pple-43d.com/',
])('says nothing of %s', (text) => {
  expect(wordsIn(text)).toEqual([])
})

it('looks at every part of a call, names three at most, and takes linear time', () => {
  const args = { command: ['x', { 'p\u0430th': 1 }], more: Array.from({ length: 9 }, (_, n) => `a\u0430${n}`) }
  expect(lookAlikesIn(args)).toHaveLength(3)
  const before = process.threadCpuUsage()
  for (const text of ['\u0430'.repeat(1_000_000), 'a_\u0431'.repeat(300_000), 'http://'.repeat(100_000) + '\u0430']) lookAlikesIn(text)
  // Processor time, which a busy machine does not change.
  expect(process.threadCpuUsage(before).user / 1000).toBeLessThan(3000)
})
