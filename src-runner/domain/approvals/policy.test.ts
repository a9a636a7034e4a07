import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Autonomy } from '../../contract/agents.ts'
import { CallRisk, NO_TAINTS, type CallFacts, type Taints, type RuleText } from '../../contract/rules.ts'
import { englishText, quote } from '../../lib/messages.ts'
import { cpuMsOf } from '../../testing/cpu-time.ts'
import { createRuleSet } from '../rules/rule-set.ts'
import { decide, type Situation } from './policy.ts'

const ADA = '019a0000-0000-7000-8000-00000000000a'
const BO = '019a0000-0000-7000-8000-00000000000b'
const mark = { seq: 1, cause: quote('a page') }
const BOTH: Taints = { ...NO_TAINTS, untrusted: mark, private: mark }

const facts = (more: Partial<CallFacts> = {}): CallFacts => ({
  tool: 'write_file',
  effect: 'idempotent',
  subject: 'Documents/plans/may.md',
  paths: ['/home/ada/Documents/plans/may.md'],
  summary: '',
  leavesMachine: false,
  costsMoney: false,
  deletes: false,
  overwrites: false,
  runsCode: false,
  ...more,
})
const fetchFacts = (more: Partial<CallFacts> = {}) =>
  facts({ tool: 'web_fetch', effect: 'read', subject: 'https://example.com/a', paths: [], leavesMachine: true, ...more })
const commandFacts = (...argv: string[]) =>
  facts({
    tool: 'run_command',
    effect: 'once',
    subject: argv.join(' '),
    argv,
    paths: ['/home/ada/Documents'],
    runsCode: true,
    sandboxed: true,
  })

const FEW_HOSTS: CallFacts = { ...commandFacts('npm', 'test'), tool: 'code_command', leavesMachine: true, reaches: ['api.openai.com'] }

const rule = (effect: RuleText['effect'], more: Partial<RuleText> = {}): RuleText => ({
  effect,
  tool: 'write_file',
  pattern: null,
  agentId: null,
  folder: null,
  ...more,
})

type Case = Partial<Omit<Situation, 'rules' | 'grants'>> & { rules?: RuleText[]; grants?: string[] }
const situation = ({ rules = [], grants = [], ...more }: Case = {}): Situation => ({
  facts: facts(),
  autonomy: 'ask_when_it_matters',
  agentId: ADA,
  taints: NO_TAINTS,
  pauseAll: false,
  guardrails: { closedFolders: ['/home/ada/.config/Deckhand'], ownPorts: [3000, 3001] },
  ...more,
  rules: createRuleSet(rules),
  grants: new Map(grants.map((tool) => [tool, new Set(CallRisk.options)])),
})
const verdictOf = (one: Case) => {
  const { verdict, decidedBy } = decide(situation(one))
  return `${verdict} by ${decidedBy.source}`
}

describe('the autonomy levels', () => {
  const READ = facts({ tool: 'read_file', effect: 'read' })
  it.each<[string, Autonomy, CallFacts, string]>([
    ['asks first: reading', 'ask_first', READ, 'run by level'],
    ['asks first: writing', 'ask_first', facts(), 'ask by level'],
    ['asks first: a read that goes out', 'ask_first', fetchFacts(), 'ask by level'],
    ['when it matters: a new file', 'ask_when_it_matters', facts(), 'run by level'],
    ['when it matters: overwriting', 'ask_when_it_matters', facts({ overwrites: true }), 'ask by level'],
    ['when it matters: deleting', 'ask_when_it_matters', facts({ deletes: true }), 'ask by level'],
    ['when it matters: money', 'ask_when_it_matters', facts({ costsMoney: true }), 'ask by level'],
    ['when it matters: going out', 'ask_when_it_matters', fetchFacts(), 'ask by level'],
    ['when it matters: a program', 'ask_when_it_matters', commandFacts('git', 'status'), 'ask by level'],
    ['on its own: a program in a sandbox', 'on_its_own', commandFacts('git', 'status'), 'run by level'],
    ['on its own: everything at once', 'on_its_own', facts({ deletes: true, overwrites: true, costsMoney: true }), 'run by level'],
  ])('%s', (_what, autonomy, call, expected) => expect(verdictOf({ autonomy, facts: call })).toBe(expected))

  it('never runs at a stricter level what asks at a laxer one', () => {
    const strict: Record<string, number> = { run: 0, ask: 1, deny: 2 }
    fc.assert(
      fc.property(arbitraryCase(), (one) => {
        const [first, matters, own] = (['ask_first', 'ask_when_it_matters', 'on_its_own'] as const).map(
          (autonomy) => strict[decide(situation({ ...one, autonomy })).verdict]!,
        )
        expect(first! >= matters! && matters! >= own!).toBe(true)
      }),
    )
  })
})

describe('the order of checks', () => {
  const DATA = facts({ paths: ['/home/ada/.config/Deckhand/deckhand.db'] })
  const LEAVES = fetchFacts()
  const ALLOW_FETCH = rule('allow', { tool: 'web_fetch', pattern: 'https://example.com/a' })
  it.each<[string, Case, string]>([
    ['guardrails override an allow rule', { facts: DATA, rules: [rule('allow')], autonomy: 'on_its_own' }, 'deny by guardrails'],
    ['a deny rule overrides pause all', { pauseAll: true, rules: [rule('deny')] }, 'deny by rule'],
    [
      'pause all asks for reads too',
      { pauseAll: true, facts: facts({ tool: 'read_file', effect: 'read' }), autonomy: 'on_its_own' },
      'ask by pauseAll',
    ],
    ['pause all overrides allow rules and grants', { pauseAll: true, rules: [rule('allow')], grants: ['write_file'] }, 'ask by pauseAll'],
    ['the lethal trifecta asks an autonomous agent', { taints: BOTH, facts: LEAVES, autonomy: 'on_its_own' }, 'ask by lethal_trifecta'],
    ['the lethal trifecta overrides an allow rule', { taints: BOTH, facts: LEAVES, rules: [ALLOW_FETCH] }, 'ask by lethal_trifecta'],
    ['the lethal trifecta overrides a grant', { taints: BOTH, facts: LEAVES, grants: ['web_fetch'] }, 'ask by lethal_trifecta'],
    [
      'the lethal trifecta asks for a program with a few hosts',
      { taints: BOTH, facts: FEW_HOSTS, autonomy: 'on_its_own' },
      'ask by lethal_trifecta',
    ],
    [
      'a rule for everything does not allow them',
      { taints: BOTH, facts: FEW_HOSTS, rules: [rule('allow', { tool: '*' })] },
      'ask by lethal_trifecta',
    ],
    ['a rule for its tool does', { taints: BOTH, facts: FEW_HOSTS, rules: [rule('allow', { tool: 'code_command' })] }, 'run by rule'],
    ['a grant for its tool does', { taints: BOTH, facts: FEW_HOSTS, grants: ['code_command'] }, 'run by grant'],
    [
      'a deny rule overrides the lethal trifecta',
      { taints: BOTH, facts: LEAVES, rules: [rule('deny', { tool: 'web_fetch' })] },
      'deny by rule',
    ],
    [
      'untrusted text alone may leave the machine',
      { taints: { ...NO_TAINTS, untrusted: mark }, facts: LEAVES, autonomy: 'on_its_own' },
      'run by level',
    ],
    [
      'private data alone may leave the machine',
      { taints: { ...NO_TAINTS, private: mark }, facts: LEAVES, autonomy: 'on_its_own' },
      'run by level',
    ],
    [
      'a program with network access asks after untrusted text alone',
      {
        taints: { ...NO_TAINTS, untrusted: mark },
        facts: { ...commandFacts('npm', 'install'), leavesMachine: true },
        rules: [rule('allow', { tool: 'run_command' })],
        autonomy: 'on_its_own',
      },
      'ask by lethal_trifecta',
    ],
    [
      'a program with network access runs in a job without untrusted text',
      {
        taints: { ...NO_TAINTS, private: mark },
        facts: { ...commandFacts('npm', 'install'), leavesMachine: true },
        autonomy: 'on_its_own',
      },
      'run by level',
    ],
    ['a job with both taints may still write a file', { taints: BOTH, autonomy: 'on_its_own' }, 'run by level'],
    [
      'a program without a sandbox asks despite rules and grants',
      {
        facts: { ...commandFacts('ls'), sandboxed: false },
        rules: [rule('allow', { tool: 'run_command' })],
        grants: ['run_command'],
        autonomy: 'on_its_own',
      },
      'ask by sandbox',
    ],
    [
      'a deny rule overrides a missing sandbox',
      { facts: { ...commandFacts('ls'), sandboxed: false }, rules: [rule('deny', { tool: '*' })] },
      'deny by rule',
    ],
    ['a rule overrides the autonomy level', { facts: facts({ deletes: true }), rules: [rule('allow')] }, 'run by rule'],
    ['an ask rule overrides autonomy', { autonomy: 'on_its_own', rules: [rule('ask')] }, 'ask by rule'],
    ['a grant overrides the autonomy level', { autonomy: 'ask_first', grants: ['write_file'] }, 'run by grant'],
    ['a grant holds for its tool only', { autonomy: 'ask_first', grants: ['delete_file'] }, 'ask by level'],
    ['a grant overrides an ask rule for the tool', { rules: [rule('ask', { agentId: ADA })], grants: ['write_file'] }, 'run by grant'],
    [
      'an ask rule for a folder overrides a grant',
      { rules: [rule('ask', { folder: '/home/ada' })], grants: ['write_file'] },
      'ask by rule',
    ],
    ['a deny rule overrides a grant', { rules: [rule('deny')], grants: ['write_file'] }, 'deny by rule'],
  ])('%s', (_what, one, expected) => expect(verdictOf(one)).toBe(expected))

  it('names the deciding entry and those it overruled, each with a sentence', () => {
    const decision = decide(situation({ taints: BOTH, facts: LEAVES, rules: [ALLOW_FETCH], grants: ['web_fetch'], autonomy: 'on_its_own' }))
    expect(decision.decidedBy).toMatchObject({ source: 'lethal_trifecta', reason: { params: { untrusted: quote('a page') } } })
    expect(decision.overruled.map(({ source, verdict }) => `${source} ${verdict}`)).toEqual(['rule run', 'grant run', 'level run'])
    for (const { reason } of [decision.decidedBy, ...decision.overruled]) expect(englishText(reason)).toMatch(/^[A-Z].*\.$/)
  })
})

describe('an allow rule and a file that runs later', () => {
  const LATER = facts({ subject: 'app/.vscode/tasks.json', paths: ['/home/ada/app/.vscode/tasks.json'], runsCode: true, runsLater: true })
  it.each<[string, Partial<RuleText>, string]>([
    ['one for a tool does not reach it', {}, 'ask by level'],
    ['one for the folder around does not', { folder: '/home/ada/app' }, 'ask by level'],
    ['one with a star does not', { pattern: 'app/*' }, 'ask by level'],
    ['one for the file does', { pattern: 'app/.vscode/tasks.json' }, 'run by rule'],
    ['one for its protected folder does', { folder: '/home/ada/app/.vscode' }, 'run by rule'],
  ])('%s', (_what, more, expected) => expect(verdictOf({ facts: LATER, rules: [rule('allow', more)] })).toBe(expected))

  it('is stopped by a deny rule for the folder around it', () =>
    expect(verdictOf({ facts: LATER, rules: [rule('deny', { folder: '/home/ada/app' })] })).toBe('deny by rule'))
})

describe('which rule', () => {
  it.each<[string, RuleText[], string]>([
    [
      'a pattern beats a folder',
      [rule('allow', { pattern: 'Documents/*' }), rule('deny', { folder: '/home/ada/Documents' })],
      'run by rule',
    ],
    ['a folder beats a tool', [rule('allow', { folder: '/home/ada', tool: '*' }), rule('deny')], 'run by rule'],
    ['a tool beats an agent', [rule('allow'), rule('deny', { tool: '*', agentId: ADA })], 'run by rule'],
    ['an agent beats everyone', [rule('allow', { agentId: ADA }), rule('deny')], 'run by rule'],
    ['a longer pattern beats a shorter', [rule('deny', { pattern: 'Doc*' }), rule('allow', { pattern: 'Documents/*' })], 'run by rule'],
    [
      'a pattern without a star beats one with',
      [rule('deny', { pattern: 'Documents/plans/may.md*' }), rule('allow', { pattern: 'Documents/plans/may.md' })],
      'run by rule',
    ],
    [
      'a deeper folder beats a shallower',
      [rule('deny', { folder: '/home/ada' }), rule('allow', { folder: '/home/ada/Documents' })],
      'run by rule',
    ],
    ['deny wins a tie with ask and allow', [rule('allow'), rule('deny'), rule('ask')], 'deny by rule'],
    ['ask wins a real tie', [rule('allow', { pattern: 'Doc*' }), rule('ask', { pattern: '*.md' })], 'ask by rule'],
    ['a rule of another agent does not apply', [rule('deny', { agentId: BO })], 'run by level'],
    ['a rule of another tool does not apply', [rule('deny', { tool: 'delete_file' })], 'run by level'],
    ['a rule for every tool applies', [rule('deny', { tool: '*' })], 'deny by rule'],
    ['a folder with the same prefix is another folder', [rule('deny', { folder: '/home/ada/Doc' })], 'run by level'],
    ['a trailing slash changes nothing', [rule('deny', { folder: '/home/ada/Documents/' })], 'deny by rule'],
  ])('%s', (_what, rules, expected) => expect(verdictOf({ rules })).toBe(expected))

  it.each<[string, RuleText, Partial<CallFacts>, string]>([
    [
      'allow in a folder needs every path inside',
      rule('allow', { folder: '/home/ada' }),
      { paths: ['/home/ada/a', '/tmp/b'], deletes: true },
      'ask by level',
    ],
    ['deny in a folder needs one path inside', rule('deny', { folder: '/home/ada' }), { paths: ['/home/ada/a', '/tmp/b'] }, 'deny by rule'],
    ['a call without paths is in no folder', rule('allow', { folder: '/home/ada' }), { paths: [], deletes: true }, 'ask by level'],
    [
      'an allow rule does not follow dots out of its folder',
      rule('allow', { folder: '/home/ada' }),
      { paths: ['/home/ada/../bo/x'], deletes: true },
      'ask by level',
    ],
    ['a deny rule ignores case', rule('deny', { pattern: 'documents/PLANS/*' }), {}, 'deny by rule'],
    ['an allow rule does not ignore case', rule('allow', { pattern: 'documents/*' }), { deletes: true }, 'ask by level'],
    ['either Unicode normalization matches', rule('deny', { pattern: 'caf\u00e9*' }), { subject: 'cafe\u0301.txt' }, 'deny by rule'],
    ['a star matches line breaks too', rule('deny', { pattern: 'a*b' }), { subject: 'a\nx\nb' }, 'deny by rule'],
    [
      'Windows paths match with either slash',
      rule('deny', { folder: 'C:\\Users\\Ada' }),
      { paths: ['c:/users/ada/x.txt'] },
      'deny by rule',
    ],
  ])('%s', (_what, one, call, expected) => expect(verdictOf({ rules: [one], facts: facts(call) })).toBe(expected))
})

describe('the guardrails', () => {
  it.each([
    ['rm', '-rf', '/'],
    ['rm', '-rf', '/*'],
    ['rm', '-r', '-f', '~'],
    ['rm', '-Rf', '--', '$HOME/'],
    ['/bin/rm', '-fr', '/etc'],
    ['sudo', 'rm', '-rf', '/usr/'],
    ['sudo', '-n', 'env', 'A=b', 'rm', '-rf', '/'],
    ['sudo', '-u', 'root', '-g', 'wheel', 'rm', '-rf', '/'],
    ['sudo', '-u', 'root', 'sh', '-c', 'rm -rf /'],
    ['sh', '-c', 'timeout --signal KILL 5 env -u A rm -rf ~'],
    ['sh', '-c', 'cd /tmp && rm -rf /'],
    ['bash', '-lc', 'bash -c "rm -rf /home"'],
    ...['ash', 'rbash', 'mksh', 'csh', 'bash5.2', '/usr/bin/yash'].map((shell) => [shell, '-c', 'rm -rf ~']),
    ['busybox', 'ash', '-c', 'rm -rf /'],
    ['toybox', 'rm', '-rf', '/'],
    ['timeout', '5', 'rm', '-rf', '/'],
    ['timeout', '-k', '5s', '1.5m', 'rm', '-rf', '/'],
    ['nice', '-n', '10', 'rm', '-rf', '/'],
    ['xargs', '-I', '{}', 'rm', '-rf', '/'],
    ['stdbuf', '-oL', 'rm', '-rf', '/'],
    ['rm', '-rf', '--no-preserve-root', 'x'],
    ['find', '/', '-delete'],
    ['dd', 'if=/dev/zero', 'of=/dev/sda'],
    ['mkfs.ext4', '/dev/sdb1'],
    ['bash', '-c', ':(){ :|:& };:'],
    ['kill', '-9', '-1'],
    ['sh', '-c', 'kill -s KILL -- -1'],
    ['killall5', '-9'],
    ['sh', '-c', 'cat x > /dev/nvme0n1'],
    ['shred', '/dev/sda'],
    ['chmod', '-R', '777', '/'],
    ['cmd', '/c', 'rd /s /q C:\\'],
    ['format', 'C:'],
    ['diskutil', 'eraseDisk', 'JHFS+', 'x', 'disk0'],
    ['mv', '/usr', '/tmp/x'],
  ])('denies a command that destroys the system: %s %s %s', (...argv) => {
    expect(verdictOf({ facts: commandFacts(...argv.filter((word) => word !== undefined)), autonomy: 'on_its_own' })).toBe(
      'deny by guardrails',
    )
  })

  it.each([
    [['rm', '-rf', 'build']],
    [['rm', '-rf', './*']],
    [['rm', 'notes.txt']],
    [['find', '.', '-delete']],
    [['dd', 'if=a.img', 'of=b.img']],
    [['git', 'commit', '-m', 'rm -rf / is dangerous']],
    [['npm', 'run', 'format']],
    [['kill', '-1', '4711']],
    [['timeout', '5', 'rm', '-rf', 'build']],
    [['sudo', '-u', 'ada', 'rm', '-rf', 'build']],
    [['mv', 'a', 'b']],
    [['curl', 'http://localhost:8080/']],
  ])('allows ordinary commands: %j', (argv) => {
    expect(verdictOf({ facts: commandFacts(...argv), autonomy: 'on_its_own' })).toBe('run by level')
  })

  it.each([
    'http://127.0.0.1:3001/api/approve',
    'http://localhost:3000/',
    'http://LOCALHOST:3001/api/health',
    'http://[::1]:3001/api/rules',
    'http://[::ffff:127.0.0.1]:3001/',
    'http://127.1:3001/',
    'http://0:3001/',
    'http://0.0.0.0:3000/api',
    'http://2130706433:3001/',
    'http://x.localhost:9999/api/approve',
    'http://127.0.0.1:40404/api/approve',
  ])("denies a call to Deckhand's own API: %s", (subject) => {
    const allowed = rule('allow', { tool: '*' })
    expect(verdictOf({ facts: fetchFacts({ subject }), rules: [allowed], autonomy: 'on_its_own' })).toBe('deny by guardrails')
    expect(verdictOf({ facts: commandFacts('curl', '-X', 'POST', subject), rules: [allowed] })).toBe('deny by guardrails')
  })

  it.each(['exec 3<>/dev/tcp/127.0.0.1/3001', 'nc localhost 3000', 'socat - TCP:[::1]:3001'])(
    "denies a program that connects to Deckhand's own API: %s",
    (line) =>
      expect(verdictOf({ facts: commandFacts('bash', '-c', line), rules: [rule('allow', { tool: '*' })] })).toBe('deny by guardrails'),
  )

  it.each(['a', '0x7f'])('reads a long word of a command quickly: %s', (part) => {
    expect(cpuMsOf(() => verdictOf({ facts: commandFacts('echo', part.repeat(60_000 / part.length)) }))).toBeLessThan(300)
  })

  it.each<[string, CallFacts]>([
    ['a file in it', facts({ paths: ['/home/ada/.config/Deckhand/x'] })],
    ['in other capitals', facts({ paths: ['/home/ada/.config/DECKHAND/x'] })],
    ['reading', facts({ effect: 'read', tool: 'read_file', paths: ['/home/ada/.config/Deckhand'] })],
    ['a folder around it that would be moved', facts({ tool: 'move_file', paths: ['/home/ada/.config', '/tmp/y'] })],
    ['a command that names it', commandFacts('sqlite3', '/home/ada/.config/Deckhand/deckhand.db')],
    ['an address that names it', fetchFacts({ subject: 'file:///home/ada/.config/Deckhand/deckhand.db' })],
  ])("keeps Deckhand's data folder closed: %s", (_what, call) => {
    expect(verdictOf({ facts: call, rules: [rule('allow', { tool: '*' })], autonomy: 'on_its_own' })).toBe('deny by guardrails')
  })

  it('allows reading a folder that contains the data folder', () => {
    expect(verdictOf({ facts: facts({ effect: 'read', tool: 'list_files', paths: ['/home/ada'] }) })).toBe('run by level')
    expect(verdictOf({ facts: { ...commandFacts('ls'), paths: ['/home/ada'] }, autonomy: 'on_its_own' })).toBe('run by level')
  })
})

const SUBJECTS = ['Documents/a.md', 'Documents/b/c.md', 'documents/A.md', 'https://example.com/x', 'git status', '']
const PATTERNS = [null, '*', 'Doc*', '*.md', 'Documents/*', 'documents/a.md', 'git *', 'https://example.com/*']
const FOLDERS = [null, '/home', '/home/ada', '/home/ada/Documents', '/tmp']

function arbitraryRule(effect?: RuleText['effect']): fc.Arbitrary<RuleText> {
  return fc.record({
    effect: effect === undefined ? fc.constantFrom('allow', 'ask', 'deny') : fc.constant(effect),
    tool: fc.constantFrom('*', 'write_file', 'web_fetch', 'run_command'),
    pattern: fc.constantFrom(...PATTERNS),
    agentId: fc.constantFrom(null, ADA, BO),
    folder: fc.constantFrom(...FOLDERS),
  })
}

function arbitraryCase(): fc.Arbitrary<Case> {
  const flag = fc.boolean()
  return fc.record({
    facts: fc.record({
      tool: fc.constantFrom('write_file', 'web_fetch', 'run_command'),
      effect: fc.constantFrom('read', 'idempotent', 'once'),
      subject: fc.constantFrom(...SUBJECTS),
      paths: fc.subarray(['/home/ada/Documents/a.md', '/tmp/x', '/home/ada/.config/Deckhand/y']),
      summary: fc.constant(''),
      leavesMachine: flag,
      costsMoney: flag,
      deletes: flag,
      overwrites: flag,
      runsCode: flag,
      sandboxed: flag,
    }),
    autonomy: fc.constantFrom('ask_first', 'ask_when_it_matters', 'on_its_own'),
    taints: fc.record({ untrusted: fc.constantFrom(null, mark), private: fc.constantFrom(null, mark), outside: fc.constant(null) }),
    pauseAll: flag,
    rules: fc.array(arbitraryRule(), { maxLength: 8 }),
    grants: fc.subarray(['write_file', 'web_fetch', 'run_command']),
  })
}

describe('with any rules', () => {
  const STRICT = { run: 0, ask: 1, deny: 2 }
  const strictness = (one: Case) => STRICT[decide(situation(one)).verdict]
  const runs = { numRuns: 500 }

  it('another deny rule never allows more', () => {
    fc.assert(
      fc.property(arbitraryCase(), arbitraryRule('deny'), (one, deny) => {
        expect(strictness({ ...one, rules: [...one.rules!, deny] })).toBeGreaterThanOrEqual(strictness(one))
      }),
      runs,
    )
  })

  it('another allow rule or grant never denies more', () => {
    fc.assert(
      fc.property(arbitraryCase(), arbitraryRule('allow'), (one, allow) => {
        expect(strictness({ ...one, rules: [...one.rules!, allow] })).toBeLessThanOrEqual(strictness(one))
        expect(strictness({ ...one, grants: [...one.grants!, one.facts!.tool] })).toBeLessThanOrEqual(strictness(one))
      }),
      runs,
    )
  })

  it('pause all and taints never allow more', () => {
    fc.assert(
      fc.property(arbitraryCase(), (one) => {
        expect(strictness({ ...one, pauseAll: true })).toBeGreaterThanOrEqual(strictness({ ...one, pauseAll: false }))
        expect(strictness({ ...one, taints: BOTH })).toBeGreaterThanOrEqual(strictness({ ...one, taints: NO_TAINTS }))
      }),
      runs,
    )
  })

  it('the order of rules does not matter', () => {
    fc.assert(
      fc.property(arbitraryCase(), (one) => {
        const { verdict, decidedBy } = decide(situation(one))
        const turned = decide(situation({ ...one, rules: one.rules!.toReversed() }))
        expect(turned.verdict).toBe(verdict)
        expect(turned.decidedBy.source).toBe(decidedBy.source)
      }),
      runs,
    )
  })

  it('a job with both taints never sends data without approval', () => {
    fc.assert(
      fc.property(arbitraryCase(), (one) => {
        const call = { ...one.facts!, leavesMachine: true }
        expect(decide(situation({ ...one, facts: call, taints: BOTH })).verdict).not.toBe('run')
      }),
      runs,
    )
  })
})
