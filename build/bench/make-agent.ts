import { callJson } from './http-client.ts'

/** An agent whose model is the local model server's; `fields` beside what every agent has. Answers its id. */
export async function makeAgent(url: string, modelUrl: string, fields: object = {}): Promise<string> {
  const { provider } = await callJson<{ provider: { id: string } }>('POST', `${url}/api/providers`, {
    kind: 'openai-compatible',
    name: 'Local',
    baseUrl: `${modelUrl}/v1`,
  })
  const { agent } = await callJson<{ agent: { id: string } }>('POST', `${url}/api/agents`, {
    name: 'Bench',
    model: { providerId: provider.id, model: 'small' },
    ...fields,
  })
  return agent.id
}
