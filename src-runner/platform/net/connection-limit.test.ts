import { EventEmitter } from 'node:events'
import { describe, expect, it } from 'vitest'
import { limitConnectionsFromNetwork } from '../../contract/connection-limit.ts'

describe('the limit of connections from the network', () => {
  const server = () => {
    const listening = new EventEmitter()
    limitConnectionsFromNetwork(listening, { fromAddress: 2, fromNetwork: 3 })
    return (remoteAddress: string | undefined, localAddress = '192.168.1.5') => {
      const socket = Object.assign(new EventEmitter(), {
        remoteAddress,
        localAddress,
        isOpen: true,
        destroy: () => (socket.isOpen = false),
      })
      listening.emit('connection', socket)
      return socket
    }
  }

  it('bounds what one address holds, and what all hold together', () => {
    const arrive = server()
    const first = arrive('192.168.1.66')
    const open = () => [arrive('192.168.1.66').isOpen, arrive('192.168.1.67').isOpen]
    expect([first.isOpen, open(), open()]).toEqual([true, [true, true], [false, false]])
    first.emit('close')
    expect(open()).toEqual([true, false])
  })

  it('is not reached by this machine, however many connections strangers hold', () => {
    const arrive = server()
    for (const host of ['a', 'b', 'c', 'd']) arrive(`fe80::${host}`)
    const own = Array.from({ length: 10 }, () => arrive('::ffff:127.0.0.1', '127.0.0.1'))
    expect(own.every(({ isOpen }) => isOpen)).toBe(true)
  })
})
