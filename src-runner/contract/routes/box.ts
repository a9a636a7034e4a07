import { z } from 'zod'
import { Box } from '../box.ts'
import { routeTable } from './route.ts'

export const boxRoutes = routeTable({
  getBox: {
    method: 'GET',
    path: '/api/box',
    gate: 'runner',
    summary: 'The box that programs of agents run in: whether it works on this machine, and what to do if not.',
    status: 200,
    answer: z.object({ box: Box }),
    errors: [],
    shows: ['settings'],
  },
  checkBox: {
    method: 'POST',
    path: '/api/box/check',
    gate: 'runner',
    summary: 'Try the box anew, by running a program in it.',
    bodyOptional: true,
    status: 200,
    answer: z.object({ box: Box }),
    errors: [],
  },
})
