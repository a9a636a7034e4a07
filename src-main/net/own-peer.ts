import { readFile } from 'node:fs/promises'
import { endianness } from 'node:os'
import { createPeerCheck } from '../../src-runner/contract/peer.ts'

/** Whether the other end of a socket is a program of this account on this machine; see the contract. */
export const isOwnPeer = createPeerCheck({
  ownUid: process.platform === 'linux' ? process.getuid!() : null,
  isLittleEndian: endianness() === 'LE',
  readTable: (name) => readFile(`/proc/net/${name}`, 'latin1'),
})
