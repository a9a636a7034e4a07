import { DEMO_MODEL } from '../../src-runner/contract/agents.ts'
import { openSeed } from './seed.ts'

/** After a crash: one job had recorded a step, one had just started, one was in the queue. */
export function fillAfterACrash(dataDir: string, now: number): void {
  const seed = openSeed(dataDir, now - 10 * 60_000)
  seed.defaultModel(DEMO_MODEL)
  const agent = seed.agent({ name: 'Ada' })
  seed.job({ agent, task: 'Say hello.', turns: [{ text: 'Hello!' }] })
  seed.job({
    agent,
    task: 'What files are in my folder?',
    title: 'Crashed after a step',
    turns: [{ text: 'I look.', calls: [{ name: 'list_files', args: {}, output: 'notes.md' }] }],
    outcome: 'running',
  })
  seed.job({ agent, task: 'Hello again.', title: 'Crashed before its first step', turns: [], outcome: 'running' })
  seed.job({ agent, task: 'Thank you.', title: 'Was waiting in the queue', turns: [], outcome: 'pending' })
  seed.close()
}
