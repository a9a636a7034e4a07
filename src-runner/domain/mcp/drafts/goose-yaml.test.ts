import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cpuMsOf } from '../../../testing/cpu-time.ts'
import { parseGooseExtensions } from './goose-yaml.ts'

const CONFIG = `# mine
GOOSE_PROVIDER: &p anthropic
GOOSE_MODEL: !tag claude

extensions:
  developer:
    bundled: true
    enabled: true
    name: developer
    timeout: 300
    type: builtin
  # remote
  linear:
    type: streamable_http
    uri: "https://mcp.linear.app/mcp?a=1#b" # its address
    headers:
      Authorization: 'Bearer it''s: x'
    env_keys: []
    envs: {}
  git:
    args:
    - --repository
    - /home/me/my repo
    - 'key: value'
    cmd: uvx
    description: |-
      Reads
        repositories: all
    display: null
    env_keys:
      - GIT_TOKEN
    envs:
      EMPTY:
      PORT: 8080
other: [1, 2
`

describe('the extensions in the configuration of Goose', () => {
  it('are read, whatever else is in the file', () => {
    expect(parseGooseExtensions(CONFIG)).toEqual({
      extensions: {
        developer: { bundled: true, enabled: true, name: 'developer', timeout: '300', type: 'builtin' },
        linear: {
          type: 'streamable_http',
          uri: 'https://mcp.linear.app/mcp?a=1#b',
          headers: { Authorization: "Bearer it's: x" },
          env_keys: [],
          envs: {},
        },
        git: {
          args: ['--repository', '/home/me/my repo', 'key: value'],
          cmd: 'uvx',
          description: 'Reads\nrepositories: all',
          display: null,
          env_keys: ['GIT_TOKEN'],
          envs: { EMPTY: null, PORT: '8080' },
        },
      },
    })
    expect(parseGooseExtensions('GOOSE_MODEL: x\n')).toBeNull()
    expect(parseGooseExtensions('extensions:\n')).toEqual({ extensions: null })
  })

  it.each([
    ['references', 'extensions:\n  a: *b'],
    ['tags', 'extensions:\n  a: !!js x'],
    ['a text that goes on', 'extensions:\n  a: "x\n  y"'],
    ['lines without a key', 'extensions:\n  a'],
    ['a list in a map', 'extensions:\n  a: 1\n  - b'],
    ['too many levels', `extensions:\n${Array.from({ length: 60 }, (_, i) => `${' '.repeat(i + 1)}a:`).join('\n')}`],
  ])('are refused with %s', (_what, text) => {
    expect(() => parseGooseExtensions(text)).toThrow(SyntaxError)
  })

  it('are read or refused in a short time, whatever is in the file', () => {
    const part = fc.constantFrom(
      'extensions:\n',
      '  ',
      '- ',
      'a',
      ': ',
      ':',
      '"',
      "'",
      '\n',
      '|',
      '[',
      '{',
      '}',
      '#',
      '\\',
      '&',
      ' ',
      'null',
    )
    fc.assert(
      fc.property(fc.array(part, { maxLength: 40 }), (parts) => {
        try {
          parseGooseExtensions(`extensions:\n${parts.join('')}`)
        } catch (error) {
          expect(error).toBeInstanceOf(SyntaxError)
        }
      }),
      { numRuns: 500 },
    )
    for (const text of ['- ', '  a:\n', '"', ' ', 'a: - ', "  'a'"]) {
      try {
        parseGooseExtensions(`extensions:\n${text.repeat(20_000)}`)
      } catch (error) {
        expect(error).toBeInstanceOf(SyntaxError)
      }
    }
  })

  it('may hold long runs of spaces', () => {
    const value = `x${' '.repeat(50_000)}y`
    const read = () => expect(parseGooseExtensions(`extensions:\n  a: ${value} # z\n`)).toEqual({ extensions: { a: value } })
    expect(cpuMsOf(read)).toBeLessThan(1_000)
  })
})
