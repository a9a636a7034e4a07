import { eq } from 'drizzle-orm'
import type { Translate } from '../../../resources/locales/translate.ts'
import { SERVICE_NAMES } from '../../contract/channels.ts'
import type { Db } from '../../platform/db/database.ts'
import { agents } from '../agents/agents-table.ts'
import { getAgent } from '../agents/agents.ts'
import { listChannels } from './channels.ts'

/** The agents of the owner's workspace, and where each is reached, as a text for a chat. */
export function listOfAgents(db: Db, t: Translate, hereAgentId: string): string {
  const { entityId } = getAgent(db, hereAgentId)
  const channels = listChannels(db, { entityId }).filter(({ enabled }) => enabled)
  const rows = db.select({ id: agents.id, name: agents.name }).from(agents).where(eq(agents.entityId, entityId)).orderBy(agents.name).all()
  const lines = rows.map(({ id, name }) => {
    const places = channels
      .filter(({ agentId }) => agentId === id)
      .map((channel) => `${SERVICE_NAMES[channel.kind]} ${channel.link ?? channel.name}`)
    const where = id === hereAgentId ? t('outbound.agents.here') : places.join(', ') || t('outbound.agents.appOnly')
    return `• ${name}: ${where}`
  })
  return [t('outbound.agents.title'), ...lines].join('\n')
}
