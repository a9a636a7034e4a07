import { transact, type Tx } from '../../../platform/db/database.ts'
import type { Services } from '../../../platform/services.ts'
import type { Message } from '../../../contract/messages.ts'
import { AppError, problemOf } from '../../../lib/errors.ts'
import { createMessage, type Speech } from '../../../lib/messages.ts'
import { getAgent } from '../../../domain/agents/agents.ts'
import { findConnectable, insertChannel, renameChannel, setChannelEnabled } from '../../../domain/channels/channels.ts'
import { addRequest, findOwner, findPersonByExternalId } from '../../../domain/channels/people.ts'
import { decideOnPerson } from '../../../domain/channels/receive-message.ts'
import type { JobStore } from '../../../domain/jobs/job-store.ts'
import type { Paired } from './pair-device.ts'

export type StorePairedDeps = Pick<Services, 'db' | 'hub' | 'clock' | 'ids'> & {
  speech: Speech
  jobs: Pick<JobStore, 'enqueue' | 'cancelAllOf'>
}

type ToStore = { id: string; agentId: string }

/** Stores the channel, with the person as its owner: they have scanned a code from their own window. Returns why it is refused. */
export function storePaired(deps: StorePairedDeps, channel: ToStore, { account, displayName }: Paired): Message | null {
  try {
    transact(deps.db, (tx) => {
      const present = findConnectable(tx, channel.id)
      if (present === null)
        insertChannel(tx, deps, { id: channel.id, agentId: getAgent(tx, channel.agentId).id, kind: 'messenger', account, baseUrl: null })
      else if (present.accountId !== account.accountId) {
        throw new AppError('channel_refused', createMessage('chat_wa_other_account', { account: account.name }))
      } else {
        renameChannel(tx, channel.id, account)
        setChannelEnabled(tx, channel.id, true)
      }
      addOwner(tx, deps, channel, { externalId: account.accountId, displayName, handle: account.name })
    })
    return null
  } catch (error) {
    if (error instanceof AppError && error.code !== 'disk_full') return problemOf(error)
    throw error
  }
}

function addOwner(
  tx: Tx,
  deps: StorePairedDeps,
  channel: ToStore,
  owner: { externalId: string; displayName: string; handle: string },
): void {
  if (findOwner(tx, channel.id) !== null) return
  const sender = { ...owner, chatId: owner.externalId, isRoom: false }
  const person = findPersonByExternalId(tx, channel.id, owner.externalId) ?? addRequest(tx, deps, channel, sender, { hasCode: true })
  if (person !== null) decideOnPerson(tx, deps, channel, person.id, 'owner')
}
