import type { HealthCheck, HealthFinding } from '../../../src-runner/contract/doctor.ts'
import { bytesText } from '../../../resources/locales/numbers.ts'
import { messageText } from '../../lib/message-text.ts'
import { visibleText } from '../../lib/visible-text.ts'
import type { FindingTexts } from '../../lib/words/sentences.ts'
import { t, words } from '../../lib/language.ts'

const BOXES = { bubblewrap: 'bubblewrap', seatbelt: 'Seatbelt' }

/** What a health check found. */
export function findingText({ finding, found }: Pick<HealthCheck, 'finding' | 'found'>, locale: string): string {
  if (finding === undefined) return visibleText(found)
  const waiting = 'waiting' in finding ? words().doctor.waiting(finding.waiting) : ''
  return visibleText(`${words().doctor.findings[finding.code](factsOf(finding, locale))}${waiting}`)
}

/** How to fix it; empty when nothing is wrong. */
export function fixText({ fix, fixKind, advice }: Pick<HealthCheck, 'fix' | 'fixKind' | 'advice'>): string {
  if (fixKind === undefined || fixKind === 'sandbox') return advice === undefined ? visibleText(fix) : messageText(advice)
  return words().doctor.fixes[fixKind]
}

function factsOf(finding: HealthFinding, locale: string): FindingTexts {
  const size = (bytes: number) => bytesText(bytes, locale)
  return {
    why: whyOf(finding),
    names: 'names' in finding ? finding.names.join(', ') : '',
    count: 'names' in finding ? finding.names.length : 'minutes' in finding ? finding.minutes : 0,
    size: 'bytes' in finding ? size(finding.bytes) : '',
    logSize: 'logBytes' in finding ? size(finding.logBytes) : '',
    folder: 'folder' in finding ? finding.folder : '',
    url: 'url' in finding ? finding.url : '',
    sandbox: 'sandbox' in finding ? BOXES[finding.sandbox] : '',
    used: 'used' in finding ? finding.used.join(', ') : '',
    leftOut: 'leftOut' in finding ? finding.leftOut.map(({ folder, why }) => `${folder} (${words().doctor.leftOut[why]})`).join(', ') : '',
    shell: 'shell' in finding ? (finding.shell ?? '') : '',
  }
}

function whyOf(finding: HealthFinding): string {
  if (finding.code === 'models_fail') return finding.failures.map((one) => `${one.name}: ${messageText(one.why)}`).join(' ')
  if (finding.code === 'channels_fail') {
    return finding.failures.map((one) => `${one.name}: ${messageText(one.why) || `${t(`channels.status.${one.status}`)}.`}`).join(' ')
  }
  if (finding.code === 'database_trouble') {
    const { title, detail } = words().databaseTrouble[finding.trouble]
    return `${title}. ${detail}`
  }
  if ('why' in finding) return messageText(finding.why)
  return 'words' in finding ? visibleText(finding.words) : ''
}
