import type { Elicitation, ElicitationAnswer } from '../../agent/mcp/connect-server.ts'
import { SamplingRefused, type Sampled, type Sampling } from '../../agent/mcp/sampling.ts'

export type CallListener = {
  /** `isOfOneCall`: no other call of the server is under way, so this one asks. */
  elicit(question: Elicitation, isOfOneCall: boolean): Promise<ElicitationAnswer>
  /** Throws SamplingRefused. */
  sample(sampling: Sampling, signal: AbortSignal): Promise<Sampled>
}

/** The calls under way at one server, which answer what it asks. `mayAskModel` is asked each time. */
export function createCallListeners(mayAskModel: () => boolean) {
  const listeners = new Set<CallListener>()
  return {
    add: (listener: CallListener) => void listeners.add(listener),
    remove: (listener: CallListener) => void listeners.delete(listener),
    async onElicitation(question: Elicitation): Promise<ElicitationAnswer> {
      const answers = await Promise.all([...listeners].map((listener) => listener.elicit(question, listeners.size === 1)))
      return answers[0] ?? { action: 'decline' }
    },
    async onSampling(sampling: Sampling, signal: AbortSignal): Promise<Sampled> {
      // It was switched off, and this connection is about to end.
      if (!mayAskModel()) throw new SamplingRefused('It may not ask the model.')
      const [listener, ...others] = listeners
      if (listener === undefined) throw new SamplingRefused('No call is under way.')
      if (others.length > 0) throw new SamplingRefused('Several calls are under way, and nobody can tell which of them asks.')
      return listener.sample(sampling, signal)
    },
  }
}
