import { z } from 'zod'
import { ModelRef } from '../agents.ts'
import { ModelList, Price } from '../providers.ts'
import { Nothing, routeTable } from './route.ts'

export const modelRoutes = routeTable({
  listModels: {
    method: 'GET',
    path: '/api/models',
    gate: 'runner',
    summary: 'The models of all providers, as the providers list them.',
    status: 200,
    answer: ModelList,
    errors: [],
    shows: ['models'],
  },
  setModelPrice: {
    method: 'POST',
    path: '/api/models/price',
    gate: 'runner',
    summary: "Set the person's own price of a model, or null to go back to the package's.",
    body: z.object({ model: ModelRef, price: Price.nullable() }),
    status: 200,
    answer: Nothing,
    errors: ['invalid_request', 'provider_not_found'],
  },
})
