import { expect, it } from 'vitest'
import { watchPlaces } from './place-watch.ts'

it('goes on after a listener that throws', async () => {
  let looks = 0
  const watch = watchPlaces(
    () => Promise.resolve([{ path: `/work/.envrc${++looks}`, to: `/work/envrc.set-aside${looks}` }]),
    () => {
      throw new Error('thrown on purpose')
    },
  )
  await watch.recheck()
  await watch.recheck()
  await watch.stop()
  expect(looks).toBe(3)
})
