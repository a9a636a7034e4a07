import type { DoctorCheck, DoctorFinding } from '../../../src-runner/contract/doctor.ts'
import { bytesText } from '../../kit/numbers.ts'
import { saidText } from '../../kit/said.ts'
import { visibleText } from '../../kit/visible-text.ts'
import type { FindingTexts } from '../../kit/words/sentences.ts'
import type { Words } from '../../kit/words/words.ts'

const BOXES = { bubblewrap: 'bubblewrap', seatbelt: 'Seatbelt' }

/** What the doctor found. */
export function findingText({ finding, found }: Pick<DoctorCheck, 'finding' | 'found'>, words: Words, locale: string): string {
  if (finding === undefined) return visibleText(found)
  const waiting = 'waiting' in finding ? words.doctor.waiting(finding.waiting) : ''
  return visibleText(`${words.doctor.findings[finding.code](factsOf(finding, words, locale))}${waiting}`)
}

/** What is to be done about it; empty where nothing is. */
export function fixText({ fix, fixKind, fixSaid }: Pick<DoctorCheck, 'fix' | 'fixKind' | 'fixSaid'>, words: Words): string {
  if (fixKind === undefined || fixKind === 'box') return saidText(fix, fixSaid, words)
  return words.doctor.fixes[fixKind]
}

function factsOf(finding: DoctorFinding, words: Words, locale: string): FindingTexts {
  const size = (bytes: number) => bytesText(bytes, locale)
  return {
    why: whyOf(finding, words),
    names: 'names' in finding ? finding.names.join(', ') : '',
    count: 'names' in finding ? finding.names.length : 'minutes' in finding ? finding.minutes : 0,
    size: 'bytes' in finding ? size(finding.bytes) : '',
    logSize: 'logBytes' in finding ? size(finding.logBytes) : '',
    folder: 'folder' in finding ? finding.folder : '',
    url: 'url' in finding ? finding.url : '',
    box: 'box' in finding ? BOXES[finding.box] : '',
    used: 'used' in finding ? finding.used.join(', ') : '',
    leftOut: 'leftOut' in finding ? finding.leftOut.map(({ folder, why }) => `${folder} (${words.doctor.leftOut[why]})`).join(', ') : '',
    shell: 'shell' in finding ? (finding.shell ?? '') : '',
  }
}

function whyOf(finding: DoctorFinding, words: Words): string {
  if (finding.code === 'models_fail') return finding.failures.map((one) => `${one.name}: ${saidText(one.words, one.said, words)}`).join(' ')
  if (finding.code === 'channels_fail') {
    return finding.failures
      .map((one) => `${one.name}: ${saidText(one.words, one.said, words) || `${words.channels.status[one.status]}.`}`)
      .join(' ')
  }
  if (finding.code === 'database_trouble') {
    const { title, detail } = words.databaseTrouble[finding.trouble]
    return `${title}. ${detail}`
  }
  return 'words' in finding ? saidText(finding.words, 'said' in finding ? finding.said : undefined, words) : ''
}
