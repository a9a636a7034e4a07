import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { quoteCommand, shellLineOf } from './quote-command.ts'

describe('a command in one line', () => {
  it.each<[string[], string]>([
    [['npm', 'test'], 'npm test'],
    [['git', '-c', 'core.fsmonitor=./evil', 'status'], 'git -c core.fsmonitor=./evil status'],
    [['ls', '-la', 'a b'], "ls -la 'a b'"],
    [['echo', ''], "echo ''"],
    [['echo', "it's"], `echo 'it'\\''s'`],
    [['echo', '$(id); rm -rf *'], "echo '$(id); rm -rf *'"],
    [['echo', 'git status; rm'], "echo 'git status; rm'"],
    [['echo', 'one\ntwo'], "echo $'one\\ntwo'"],
    [['echo', 'a\u202etxt.exe'], "echo $'a\\u202etxt.exe'"],
    [['echo', '\u001b[2J'], "echo $'\\x1b[2J'"],
    [['echo', 'ünï €'], "echo 'ünï €'"],
  ])('%j is %s', (command, line) => expect(quoteCommand(command)).toBe(line))

  it('is parsed by a shell to the same arguments', () => {
    const argument = fc.string({
      unit: fc.constantFrom('a', ' ', "'", '"', '\\', '$', '`', '\n', '\t', ';', '*', '\u0001', '\u202e', 'ü', '😀', '-', '#', '!'),
    })
    fc.assert(
      fc.property(fc.array(argument, { minLength: 1, maxLength: 4 }), (args) => {
        const printed = execFileSync('/bin/bash', ['--norc', '-c', `printf '%s\\0' ${quoteCommand(args)}`], { env: { LC_ALL: 'C.UTF-8' } })
        expect(printed.toString('utf8').split('\0').slice(0, -1)).toEqual(args)
      }),
      { numRuns: 60 },
    )
  })
})

describe('the shell line of a command', () => {
  it.each<[string[], string | null]>([
    [['sh', '-c', 'npm test | tail'], 'npm test | tail'],
    [['/bin/bash', '-lc', 'make'], 'make'],
    [['bash', '-e', '-c', 'make', 'x'], 'make x'],
    [['pwsh', '-Command', 'ls'], 'ls'],
    [['cmd.exe', '/c', 'dir'], 'dir'],
    [['npm', '-c', 'test'], null],
    [['sh', 'script.sh'], null],
    [['sh', '-c'], null],
    [[], null],
  ])('%j: %j', (command, line) => expect(shellLineOf(command)).toBe(line))
})
