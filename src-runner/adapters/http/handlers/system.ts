import type { SandboxState } from '../../../platform/sandbox/sandbox-types.ts'
import type { Sandbox } from '../../../contract/sandbox.ts'
import type { Handlers } from '../handler.ts'
import { collectDiagnostics } from '../../../execution/diagnostics.ts'
import { openApiDocument } from '../openapi.ts'
import type { HandlerDeps } from './deps.ts'

export function systemHandlers({ db, worker, examine, findSandbox, checkCodingProgram }: HandlerDeps) {
  return {
    health(_input, call) {
      const trouble = db.trouble()
      if (trouble !== null) call.setStatus(503)
      return { ok: trouble === null, db: trouble ?? 'ok', llm: 'unchecked' }
    },

    openapi: () => openApiDocument(),

    getDiagnostics: () => collectDiagnostics(db, examine),
    getDoctor: async () => ({ checks: await examine() }),
    /** A limited caller cannot start programs again and again. */
    async checkCodingProgram({ body }, { caller }) {
      const isLimited = caller.entityId !== undefined
      const program = await checkCodingProgram(body.cli, { mayBeRecent: isLimited })
      return isLimited ? { ...program, path: null } : program
    },
    getSandbox: async () => ({ sandbox: shown(await findSandbox()) }),
    checkSandbox: async () => ({ sandbox: shown(await findSandbox({ again: true })) }),

    /** Accepts every well-formed id. The worker decides after the response what to do with it. */
    runWorker({ body }) {
      setImmediate(() => worker.run(body.jobId))
      return { ok: true, jobId: body.jobId, status: 'accepted' }
    },
  } satisfies Partial<Handlers>
}

/** Without the internals of the sandbox. */
function shown({ kind, works, reason, advice, network, checkedAt }: SandboxState): Sandbox {
  return { kind, works, reason, advice, network: { works: network.works, reason: network.reason, advice: network.advice }, checkedAt }
}
