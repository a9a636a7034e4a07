import { z } from 'zod'
import { DoctorCheck } from '../doctor.ts'
import { routeTable } from './route.ts'

export const doctorRoutes = routeTable({
  getDoctor: {
    method: 'GET',
    path: '/api/doctor',
    gate: 'runner',
    summary: 'What Deckhand needs of this machine, looked at now: what works, what does not, and what to do.',
    status: 200,
    answer: z.object({ checks: z.array(DoctorCheck) }),
    errors: [],
    shows: ['settings'],
  },
})
