import { z } from 'zod'
import { PublicAddress, TunnelProgram, UpdatePublicAddress } from '../public-address.ts'
import { routeTable } from './route.ts'

export const publicAddressRoutes = routeTable({
  getPublicAddress: {
    method: 'GET',
    path: '/api/public-address',
    gate: 'runner',
    summary: 'How webhooks are reached from outside: address, tunnel, and whether a probe came through.',
    status: 200,
    answer: z.object({ publicAddress: PublicAddress }),
    errors: [],
    shows: ['public_address'],
  },
  updatePublicAddress: {
    method: 'PATCH',
    path: '/api/public-address',
    gate: 'runner',
    summary: 'Set the public base of webhook addresses, or the webhook-only listener.',
    body: UpdatePublicAddress,
    status: 200,
    answer: z.object({ publicAddress: PublicAddress }),
    errors: ['invalid_request', 'public_address_fixed', 'disk_full'],
  },
  checkPublicAddress: {
    method: 'POST',
    path: '/api/public-address/check',
    gate: 'runner',
    summary: 'Send a probe to the public address now and see whether it comes in.',
    bodyOptional: true,
    status: 200,
    answer: z.object({ publicAddress: PublicAddress }),
    errors: ['invalid_request'],
  },
  startTunnel: {
    method: 'POST',
    path: '/api/public-address/tunnel/start',
    gate: 'runner',
    summary: 'Start an installed tunnel program that leads to the webhooks and to nothing else.',
    body: z.object({ program: TunnelProgram }),
    status: 202,
    answer: z.object({ publicAddress: PublicAddress }),
    errors: ['invalid_request', 'tunnel_not_installed', 'public_address_fixed', 'disk_full'],
  },
  stopTunnel: {
    method: 'POST',
    path: '/api/public-address/tunnel/stop',
    gate: 'runner',
    summary: 'Stop the tunnel.',
    bodyOptional: true,
    status: 200,
    answer: z.object({ publicAddress: PublicAddress }),
    errors: ['invalid_request', 'disk_full'],
  },
})
