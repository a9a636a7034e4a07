import { realpath } from 'node:fs/promises'
import { resolve } from 'node:path'
import { isShell } from '../../../lib/shells.ts'
import type { ToolFacts } from '../tool.ts'
import { namesServer } from './named-files.ts'

/** Letters, digits and the marks of names: nothing that a shell or another program would split, expand or evaluate. */
const PLAIN = /^[\p{L}\p{M}\p{N}_@%+=:,./-]+$/u
/** A program text or a module follows. Interpreters have further spellings, but take no option here. */
const TAKES_CODE = new Set(['-c', '-m'])
/** They run the file that the word after them names, or choose one by it: a module, the main file of a folder, another extension. */
const INTERPRETERS = new RegExp(
  `^(${[
    'busybox',
    'toybox',
    'pythonw?',
    'ipython',
    'pypy',
    'node',
    'nodejs',
    'bun',
    'deno',
    'tsx',
    'ts-node',
    'electron',
    'perl',
    'ruby',
    'jruby',
    'php',
    'lua',
    'luajit',
    'rscript',
    'julia',
    'tclsh',
    'guile',
    'java',
    'groovy',
    'scala',
    'elixir',
    'escript',
    'osascript',
  ].join('|')})[\\d.]*(\\.exe)?$`,
)

/**
 * Whether the files that a command is asked to run are all in `found`. No shell is parsed: a word that is not plain or names a server,
 * or an interpreter without the name of a file right after it, is enough for a no. What programs choose themselves (a Makefile, package.json) does not count.
 */
export async function namesWhatItRuns(
  command: readonly string[],
  found: NonNullable<ToolFacts['found']>,
  folder: string,
): Promise<boolean> {
  if (command.some((word) => !PLAIN.test(word) || TAKES_CODE.has(word) || namesServer(word))) return false
  const scripts = command.flatMap((word, at) => (isInterpreter(word) ? [command[at + 1] ?? ''] : []))
  const known = new Set(found.map(({ path }) => path))
  for (const script of scripts) {
    const [skill] = script.split('/')
    const path = script.startsWith('skill:') ? skill! : await realpath(resolve(folder, script)).catch(() => '')
    if (!known.has(path)) return false
  }
  return true
}

/**
 * A command as words, if the program that gives it as a line has a shell read it. A line that a shell would split, expand or
 * evaluate stays one.
 */
export function wordsOfLine(line: string): string[] {
  const words = line.split(' ').filter((word) => word !== '')
  const isPlain = words.every((word) => PLAIN.test(word)) && words[0]?.includes('=') === false
  return isPlain ? words : ['sh', '-c', line]
}

function isInterpreter(word: string): boolean {
  return isShell(word) || INTERPRETERS.test(word.split('/').at(-1)!.toLowerCase())
}
