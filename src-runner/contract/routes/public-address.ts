import { z } from 'zod'
import { PublicAddress, TunnelProgram, UpdatePublicAddress } from '../public-address.ts'
import { get, patch, post } from './route.ts'

export const publicAddressRoutes = {
  getPublicAddress: get('/api/public-address', {
    reach: 'machine',
    summary: 'How webhooks are reached from the internet: address, tunnel, and the result of the last probe.',
    answer: z.object({ publicAddress: PublicAddress }),
    shows: ['public_address'],
  }),
  updatePublicAddress: patch('/api/public-address', {
    ownerOnly: true,
    reach: 'machine',
    summary: 'Set the public base of webhook addresses, or the webhook port.',
    body: UpdatePublicAddress,
    answer: z.object({ publicAddress: PublicAddress }),
    errors: ['public_address_fixed'],
  }),
  checkPublicAddress: post('/api/public-address/check', {
    reach: 'machine',
    summary: 'Check whether a probe through the public address arrives.',
    answer: z.object({ publicAddress: PublicAddress }),
  }),
  startTunnel: post('/api/public-address/tunnel/start', {
    ownerOnly: true,
    reach: 'machine',
    summary: 'Start an installed tunnel program. It leads only to webhooks.',
    body: z.object({ program: TunnelProgram }),
    status: 202,
    answer: z.object({ publicAddress: PublicAddress }),
    errors: ['tunnel_not_installed', 'public_address_fixed'],
  }),
  stopTunnel: post('/api/public-address/tunnel/stop', {
    ownerOnly: true,
    reach: 'machine',
    summary: 'Stop the tunnel.',
    answer: z.object({ publicAddress: PublicAddress }),
  }),
}
