import { transact } from '../../../platform/db/database.ts'
import { createRule, deleteRule, listRules } from '../../../domain/rules/rules.ts'
import { listKnownTools } from '../../../execution/known-tools.ts'
import type { Handlers } from '../handler.ts'
import type { HandlerDeps } from './deps.ts'

export function ruleHandlers({ db, clock, ids, simulate, tools, mcpTools }: HandlerDeps) {
  return {
    listRules: ({ query }, { caller }) => listRules(db, { ...query, entityId: caller.entityId }),
    createRule: ({ body }) => ({ rule: transact(db, (tx) => createRule(tx, { clock, ids }, body, 'person')) }),

    deleteRule({ params }) {
      transact(db, (tx) => deleteRule(tx, params.ruleId))
      return { ok: true }
    },

    simulateCall: ({ body }) => simulate(body),

    async listTools(_, { caller }) {
      const known = await listKnownTools({ tools, mcpTools }, caller.entityId ?? null)
      return { tools: known.map(({ name, description, effect }) => ({ name, description, effect })) }
    },
  } satisfies Partial<Handlers>
}
