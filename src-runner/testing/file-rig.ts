import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { transact } from '../platform/db/database.ts'
import type { Job } from '../contract/jobs.ts'
import { createBlobs, type Blobs } from '../domain/files/blobs.ts'
import type { Claim } from '../domain/jobs/claim-job.ts'
import type { Trash } from '../agent/files/trash.ts'
import type { FileJournal } from '../agent/tools/file-journal.ts'
import { factsOf, type Tool, type ToolContext, type ToolOutput } from '../agent/tools/tool.ts'
import type { CallFacts } from '../contract/rules.ts'
import { createFileJournal, resolveStartedChanges } from '../execution/file-journal.ts'
import { createJobFiles, type JobFiles } from '../execution/job-files.ts'
import { openDomainRig, replyOf, type DomainRig } from './domain-rig.ts'

export type FileRig = {
  domain: DomainRig
  blobs: Blobs
  files: JobFiles
  /** The agent's folder `Docs`. */
  docs: string
  /** What is beside it, which no tool may touch. */
  outside: string
  job: Job
  journal: FileJournal
  trash: Trash | undefined
  write(path: string, content: string | Uint8Array): Promise<string>
  read(path: string): Promise<string>
  /** Calls a tool as the loop does: an error is a result. */
  call(
    tool: Tool,
    args: Record<string, unknown>,
    options?: { callId?: string; folders?: string[]; journal?: FileJournal },
  ): Promise<ToolOutput>
  facts(tool: Tool, args: Record<string, unknown>, folders?: string[]): Promise<CallFacts>
  /** Continues as another job, of the same agent or another one. */
  nextJob(agent?: string): void
  endJob(): void
  /** The process dies and the job is claimed again. Started changes are resolved. */
  crash(): Promise<void>
}

/** A running job with a real database, journal and folder. */
export function openFileRig(options: { trash?: Trash } = {}): FileRig {
  const domain = openDomainRig()
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'deckhand-files-')))
  const [docs, outside] = [join(base, 'Docs'), join(base, 'outside')]
  mkdirSync(docs)
  mkdirSync(outside)
  onTestFinished(() => {
    domain.close()
    rmSync(base, { recursive: true, force: true })
  })
  const blobs = createBlobs(join(domain.folder, 'files'))
  const agents = new Map<string, string>()
  let claim!: Claim
  let agentId!: string
  let calls = 0

  const closedFolders = [domain.folder]
  const deps = () => ({ db: domain.db, clock: domain.clock, ids: domain.ids, blobs, jobs: domain.store, closedFolders })
  const contextFor = (callId: string, folders: string[] = [docs]): ToolContext => ({
    jobId: claim.jobId,
    agentId,
    callId,
    folders,
    closedFolders,
    signal: new AbortController().signal,
    journal: rig.journal,
    trash: rig.trash,
  })
  const claimed = () => {
    claim = transact(domain.db, (tx) => domain.store.claim(tx, rig.job.id, 10_000))!.claim
    rig.journal = createFileJournal(deps(), { claim, agentId })
  }

  const rig: FileRig = {
    domain,
    blobs,
    get files() {
      return createJobFiles(deps())
    },
    docs,
    outside,
    job: null as never,
    journal: null as never,
    trash: options.trash,
    async write(path, content) {
      const file = path.startsWith('/') ? path : join(docs, path)
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, content)
      return file
    },
    read: (path) => readFile(path.startsWith('/') ? path : join(docs, path), 'utf8'),
    async call(tool, args, { callId = `call_${++calls}`, folders, journal } = {}) {
      try {
        const context = contextFor(callId, folders)
        return await tool.run(tool.args.parse(args), journal === undefined ? context : { ...context, journal })
      } catch (thrown) {
        return { ok: false, output: (thrown as Error).message }
      }
    },
    facts: async (tool, args, folders) => factsOf(tool, tool.args.parse(args), contextFor('facts', folders)),
    nextJob(agent = 'Ada') {
      agentId = agents.get(agent) ?? domain.addAgent(agent).id
      agents.set(agent, agentId)
      rig.job = transact(domain.db, (tx) => domain.store.enqueue(tx, { agentId, channel: 'api', task: 'Write' }))
      claimed()
    },
    endJob: () => transact(domain.db, (tx) => void domain.store.settle(tx, claim, { kind: 'completed', text: 'done' }, replyOf('done'))),
    async crash() {
      // A job without progress between two crashes would be given up.
      transact(domain.db, (tx) => void domain.store.recordReply(tx, claim, replyOf('getting on')))
      domain.reboot()
      transact(domain.db, (tx) => domain.store.rescue(tx))
      claimed()
      await resolveStartedChanges(deps(), rig.job.id)
    },
  }
  rig.nextJob()
  return rig
}
