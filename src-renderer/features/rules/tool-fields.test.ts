import { expect, it } from 'vitest'
import { argsOf, fieldsOf, splitCommand } from './tool-fields.ts'

it.each([
  ['git log -3', ['git', 'log', '-3']],
  ['  sh -c "echo $HOME | wc"  ', ['sh', '-c', 'echo $HOME | wc']],
  [`grep 'a b' "it\\"s" c\\ d ''`, ['grep', 'a b', 'it"s', 'c d', '']],
  ['', []],
])('takes %j apart', (line, found) => {
  expect(splitCommand(line)).toEqual(found)
})

it('builds the arguments from the fields', () => {
  expect(argsOf(fieldsOf('run_command')!, { command: 'ls -l', folder: ' ' })).toEqual({ command: ['ls', '-l'] })
  expect(fieldsOf('a_tool_of_tomorrow')).toBeNull()
})
