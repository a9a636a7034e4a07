import { createPlural } from '../plural.ts'

const plural = createPlural('en')

export const home = {
  title: 'Home',
  unknown: 'Could not be loaded. What needs you may not be shown.',
  calm: 'Nothing needs you.',
  needsYou: (count: number) => plural(count, { one: '# thing needs you', other: '# things need you' }),
  recovery: {
    text: (count: number) =>
      plural(count, {
        one: 'Deckhand started again after a crash. # job was under way and kept what it had done.',
        other: 'Deckhand started again after a crash. # jobs were under way and kept what they had done.',
      }),
    seen: 'Seen',
  },
  composer: {
    label: 'Hand over a job',
    placeholder: (agent: string) => `What should ${agent} do?`,
    agent: 'Agent',
    send: 'Hand over',
    sent: 'Handed over.',
    noAgent: 'Your first agent',
    noAgentWhy: 'An agent does the work you hand over: it has instructions, a model and the folders it may see.',
    createAgent: 'Create an agent',
    setUp: 'Set up in three steps',
  },
  attention: {
    title: 'Needs you',
    more: (count: number) => plural(count, { one: '# more failed job', other: '# more failed jobs' }),
    moreDecisions: (count: number) => plural(count, { one: '# more decision waits', other: '# more decisions wait' }),
    open: 'Open',
    seen: 'Seen',
    allSeen: 'Mark all as seen',
    retry: 'Try again',
    times: (count: number) => plural(count, { one: 'failed once', other: 'failed # times' }),
    noModel: 'No model is chosen yet',
    noModelWhy: 'Agents without a model of their own cannot work until there is a default model.',
    chooseModel: 'Choose a model',
  },
  away: {
    title: 'While you were away',
    since: (when: string) => `Since ${when}`,
    seen: 'Seen',
    cost: (cost: string) => `${cost} in all`,
    runNow: 'Run now',
    runNowFor: (name: string) => `Run now: “${name}”`,
    started: (name: string) => `A run of “${name}” was started`,
    webhooks: 'Webhooks',
    webhookJobs: (count: number) => plural(count, { one: '# job', other: '# jobs' }),
    webhookJobsMore: (count: number) => plural(count, { one: 'more than # job', other: 'more than # jobs' }),
    more: (count: number) => plural(count, { one: '# more schedule', other: '# more schedules' }),
  },
  running: {
    title: 'Running now',
    stop: (title: string) => `Stop “${title}”`,
    open: (title: string) => `Open “${title}”`,
    step: (turns: number) => plural(turns, { one: 'turn #', other: 'turn #' }),
  },
  spend: {
    title: 'Spent today',
    none: 'Nothing spent today.',
    unpriced: (calls: number) =>
      plural(calls, { one: '# call without a known price is not counted', other: '# calls without a known price are not counted' }),
  },
  recent: {
    title: 'Last jobs',
    all: 'All activity',
    empty: 'No job yet',
    emptyWhy: 'Hand one over above. Everything an agent does is written down here, step by step.',
    example: 'Try an example',
    exampleText: 'Look at my files and tell me what is in there.',
  },
}
