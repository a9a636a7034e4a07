import { DATABASE_TROUBLE_WORDS } from '../../../../src-runner/contract/database.ts'
import { DOCTOR_FIXES, LEFT_OUT_WORDS } from '../../../../src-runner/contract/doctor.ts'
import { createPlural } from '../plural.ts'
import type { DatabaseTroubleWords, HealthWords, FindingTexts } from '../sentences.ts'

const plural = createPlural('en')

/** Why the database cannot do its work, and what to do. */
export const databaseTrouble: DatabaseTroubleWords = DATABASE_TROUBLE_WORDS

const NO_PROGRAM = 'None of the well-known programs is here.'

function programsFound({ names, used, leftOut }: FindingTexts): string {
  const there = names === '' ? NO_PROGRAM : `Agents can run ${names} and others.`
  const own = used === '' ? '' : ` Of yours, from ${used}: without your logins and settings.`
  return `${there}${own}${leftOut === '' ? '' : ` Left out: ${leftOut}.`}`
}

/** What the doctor found, and what is to be done about it. */
export const doctor: HealthWords = {
  findings: {
    no_answer: () => 'This did not answer within two seconds.',
    broke: ({ why }) => why,
    database_answers: ({ size, logSize }) => `Reads and answers. ${size}, and ${logSize} of changes on their way into it.`,
    database_trouble: ({ why }) => why,
    disk_free: ({ size, folder }) => `${size} are free where Deckhand keeps its data (${folder}).`,
    sandbox_missing: ({ why }) => `Agents cannot run programs. ${why}`.trim(),
    sandbox_works: ({ sandbox }) =>
      `Programs of agents are held in by ${sandbox}. They reach the internet where a rule opens it, and never this machine’s own servers.`,
    sandbox_without_network: ({ sandbox, why }) => `Programs of agents are held in by ${sandbox}. They have no network. ${why}`.trim(),
    programs_found: programsFound,
    programs_shell_open: (facts) =>
      `Your shell (${facts.shell || 'none'}) is not asked where your programs are, because an agent may write files that it reads. Give agents folders that do not hold your home or its settings. ${programsFound(facts)}`,
    programs_unasked: (facts) => `Your shell (${facts.shell || 'none'}) did not say where your programs are. ${programsFound(facts)}`,
    programs_of_system: ({ names }) =>
      `${names === '' ? NO_PROGRAM : `Agents can run ${names} and others.`} Those that you have installed in your home are not shown to them.`,
    trash_works: () => 'What agents delete goes to the trash of this system.',
    trash_missing: () => 'This system has no trash that Deckhand can use. What agents delete is gone from its folder.',
    keychain_works: () => 'Keys and tokens can be read and written.',
    keychain_shut: ({ why }) => why,
    no_model: () => 'No model is chosen, so agents cannot work.',
    demo_model: () => 'Agents work with the demo model, which only plays its part.',
    models_answer: ({ names, count }) => plural(count, { one: `${names} answers.`, other: `${names} answer.` }),
    models_fail: ({ why }) => why,
    safe_mode: () => 'Safe mode: nothing runs by the clock.',
    pause_all_on: () => 'All agents are paused: due runs wait.',
    nothing_due: () => 'Nothing is due: there is no active schedule.',
    overdue: ({ count }) => plural(count, { one: 'A run has been due for # minute.', other: 'A run has been due for # minutes.' }),
    clock_watched: () => 'The clock is watched: the next run starts at its time.',
    no_channel: () => 'No channel is on.',
    channels_work: ({ names }) => `${names}: the last round trip worked.`,
    channels_fail: ({ why }) => why,
    only_here: () => 'Only this machine reaches webhooks. That is all right for programs on it.',
    address_unreachable: ({ why }) => why,
    address_works: ({ url }) => `A delivery to ${url} comes in here.`,
    address_unchecked: ({ url }) => `${url} has not been checked yet.`,
  },
  waiting: (count) => plural(count, { zero: '', one: ' # message waits to be sent.', other: ' # messages wait to be sent.' }),
  fixes: DOCTOR_FIXES,
  leftOut: LEFT_OUT_WORDS,
}
