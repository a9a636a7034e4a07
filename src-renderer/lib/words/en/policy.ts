import type { PolicyWords } from '../sentences.ts'

/** What the policy says of a call, and what a call would do. */
export const policy: PolicyWords = {
  matters: {
    leaves_machine: 'sends something out of this machine',
    costs_money: 'costs money',
    deletes: 'deletes something',
    overwrites: 'overwrites something that the agent did not write',
    runs_code: 'runs a program',
    runs_later: 'changes a file that runs by itself later',
  },
  trace: {
    own_folder: () => 'Deckhand’s own data folder is closed to every agent.',
    own_interface: () => 'Agents cannot reach Deckhand’s own interface, so nobody can approve on their own behalf.',
    wrecks_system: () => 'This command can destroy the system, so no agent may ever run it.',
    pauseAll: () => 'All agents are paused, so every call is asked.',
    no_sandbox: () => 'This machine has no sandbox that could hold the program, so running it is asked every time.',
    untrusted_and_private: (facts) =>
      `The job has read private data (${facts.private}) and text that anybody may have written (${facts.untrusted}), so nothing leaves this machine unasked.`,
    untrusted_and_program: ({ untrusted }) =>
      `The job has read text that anybody may have written (${untrusted}), and a program with a network can send what it finds in its folder, so it does not run unasked.`,
    untrusted_and_later: ({ untrusted }) =>
      `The job has read text that anybody may have written (${untrusted}), and this file runs by itself later, so it is not changed unasked.`,
    untrusted_delegation: ({ untrusted }) =>
      `The job has read text that anybody may have written (${untrusted}), so it hands no work on without asking.`,
    changed_since: ({ change }) => `You approved this call, but ${change}, so it is asked again.`,
    grant: ({ tool }) => `You allowed ${tool} for the rest of this job.`,
    rule: ({ rule }) => `The rule: ${rule}.`,
    on_its_own: () => 'The agent works on its own: only rules stop it.',
    only_reads: () => 'The agent asks first, and this call only reads.',
    asks_first: ({ matters }) =>
      `The agent asks first, before every call that does more than read.${matters === '' ? '' : ` It ${matters}.`}`,
    nothing_matters: () => 'The agent asks when it matters, and nothing about this call does.',
    it_matters: ({ matters }) => `The agent asks when it matters.${matters === '' ? '' : ` It ${matters}.`}`,
  },
  changes: {
    no_sandbox: 'there is no sandbox any more that could hold the program',
    network: 'the program has a network now',
    place: 'it leads to another place now',
    program: 'its first word stands for another program now',
    appeared: 'something has appeared where there was nothing',
    changed: 'what it is about has changed',
    more: 'it would do more than it would have done then',
  },
  onBehalfOf: ({ agent, said }) => `For ${agent}, which handed this work on: ${said}`,
  causes: {
    started_by: ({ channel }) => `it was started through ${channel}`,
    answer_of: ({ tool }) => `the answer of ${tool}`,
    call_of: ({ tool }) => tool,
    runs_before: () => 'what the runs before it said and kept, in its prompt',
    memories: () => 'what the agent remembers, in its prompt',
    supposed: () => 'supposed',
  },
}
